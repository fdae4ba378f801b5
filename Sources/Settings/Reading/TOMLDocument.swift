internal import CTOML
import Encoding

struct TOMLSyntaxError: Error {
    let kind: ConfigurationProblem.Kind
    let line: Int
    let cause: String
}

/// A TOML 1.0.0 document: its values, and the line of each.
struct TOMLDocument: Sendable {
    private(set) var root: [String: TOMLNode] = [:]
    private(set) var locations = KeyLocations()

    /// Throws the first thing that is not TOML, or nests deeper than ``SettingsLimits/depthMax``.
    init(_ bytes: [UInt8]) throws(TOMLSyntaxError) {
        let document = unsafe bytes.withUnsafeBytes { text in
            unsafe ctoml_parse(text.baseAddress, text.count, SettingsLimits.depthMax)
        }
        defer { unsafe ctoml_free(document) }
        if let error = unsafe document.error {
            throw unsafe Self.failure(document, String(cString: error))
        }
        var index = 0
        let values = unsafe UnsafeBufferPointer(start: document.values, count: document.count)
        if case .table(let entries) = unsafe read(values, &index, at: []) { root = entries }
    }

    private mutating func read(
        _ values: UnsafeBufferPointer<ctoml_value>,
        _ index: inout Int,
        at path: [KeyStep]
    ) -> TOMLNode {
        let value = unsafe values[index]
        index += 1
        if !path.isEmpty { locations.note(path, line: Int(unsafe value.line)) }
        let count = unsafe value.child_count
        switch unsafe value.kind {
        case .CTOML_TABLE:
            var entries: [String: TOMLNode] = [:]
            for _ in 0..<count {
                let name = unsafe Self.text(values[index].key, values[index].key_count)
                entries[name] = unsafe read(values, &index, at: path + [.key(name)])
            }
            return .table(entries)
        case .CTOML_ARRAY:
            return .array(
                (0..<count).map { place in
                    unsafe read(values, &index, at: path + [.index(place)])
                }
            )
        case .CTOML_TEXT: return .text(unsafe Self.text(value.text, value.text_count))
        case .CTOML_INTEGER: return .integer(Int(unsafe value.integer))
        case .CTOML_BOOLEAN: return .boolean(unsafe value.integer != 0)
        case .CTOML_FLOAT: return .other("a number with a fraction")
        case .CTOML_DATE_OR_TIME: return .other("a date or time")
        }
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        unsafe String(
            decoding: UnsafeRawBufferPointer(start: start, count: count),
            as: UTF8.self
        )
    }

    private static func failure(_ document: ctoml_document, _ text: String) -> TOMLSyntaxError {
        let line = Int(unsafe document.line)
        guard unsafe document.is_too_deep == 0 else {
            let cause = "keys and lists nest deeper than \(SettingsLimits.depthMax) levels here"
            return TOMLSyntaxError(kind: .tooDeep, line: line, cause: cause)
        }
        let prefix = "Error while parsing "
        let text = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        let scope = text.prefix { $0 != ":" }
        // The parser takes the end of a line for a control character in the text.
        if ["string", "literal string"].contains(scope),
            text.contains("end-of-file") || text.contains("control char")
        {
            let cause = "the text in line \(line) has no closing quote, or has a control character"
            return TOMLSyntaxError(kind: .syntax, line: line, cause: cause)
        }
        let isValue =
            ["value", "boolean", "floating-point", "date", "time", "date-time"].contains(scope)
            || scope.hasSuffix("integer")
        let advice = isValue ? "; write texts and durations in quotes" : ""
        let cause = "\(text), at column \(unsafe document.column)\(advice)"
        return TOMLSyntaxError(kind: .syntax, line: line, cause: ProblemLog.sentence(cause))
    }
}

indirect enum TOMLNode: Sendable {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case array([TOMLNode])
    case table([String: TOMLNode])
    /// Anything that no setting takes: floats, dates, times.
    case other(String)

    /// What the node is, in words that follow "not".
    var typeName: String {
        switch self {
        case .text: "a text"
        case .integer: "a number"
        case .boolean: "true or false"
        case .array: "a list"
        case .table: "a section"
        case .other(let name): name
        }
    }
}

extension TOMLNode {
    /// The same value as JSON, with sorted names; `nil` where JSON in a configuration has no such
    /// value.
    var json: JSONValue? {
        switch self {
        case .text(let text): return .string(text)
        case .integer(let number): return .integer(Int64(number))
        case .boolean(let value): return .bool(value)
        case .array(let nodes):
            let items = nodes.compactMap(\.json)
            return items.count == nodes.count ? .array(items) : nil
        case .table(let entries):
            let members = entries.sorted { $0.key < $1.key }.compactMap { name, node in
                node.json.map { JSONValue.Member(name, $0) }
            }
            return members.count == entries.count ? .object(members) : nil
        case .other: return nil
        }
    }
}

/// One step from the root of a document to a value.
enum KeyStep: Hashable, Sendable {
    case key(String)
    case index(Int)
}

/// The line on which every key of a document first appears, or the variable that sets it.
struct KeyLocations: Sendable {
    private var lines: [[KeyStep]: Int] = [:]
    private var variables: [[KeyStep]: String] = [:]

    mutating func note(_ path: [KeyStep], line: Int) {
        if lines[path] == nil { lines[path] = line }
    }

    mutating func note(_ path: [KeyStep], variable: String) { variables[path] = variable }

    func isWritten(_ path: [KeyStep]) -> Bool { lines[path] != nil || variables[path] != nil }

    /// The variable that sets `path`, or the list around it.
    func variable(of path: [KeyStep]) -> String? {
        var path = path[...]
        while !path.isEmpty {
            if let variable = variables[Array(path)] { return variable }
            path.removeLast()
        }
        return nil
    }

    /// The line of `path`, or of the nearest thing around it that is written in the file.
    func line(of path: [KeyStep]) -> Int {
        var path = path[...]
        while !path.isEmpty {
            if let line = lines[Array(path)] { return line }
            path.removeLast()
        }
        return 1
    }
}
