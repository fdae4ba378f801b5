internal import TOMLKit

/// A TOML value without the library's types, which are pointers into one document.
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

/// A syntax error and its position.
struct TOMLSyntaxError: Error {
    let line: Int
    let cause: String
}

extension TOMLNode {
    /// Parses a document.
    ///
    /// - Parameter text: Without NUL, which the library would take for the end, and accepted by
    ///   ``KeyScanner``.
    /// - Returns: The keys at the top and their values.
    /// - Throws: ``TOMLSyntaxError`` for the first thing that is not TOML.
    static func parse(_ text: String) throws(TOMLSyntaxError) -> [String: TOMLNode] {
        do {
            return entries(try TOMLTable(string: text))
        } catch let error as TOMLParseError {
            throw TOMLSyntaxError(line: max(1, error.source.begin.line), cause: error.description)
        } catch {
            throw TOMLSyntaxError(line: 1, cause: "the file is not TOML")
        }
    }

    private static func entries(_ table: TOMLTable) -> [String: TOMLNode] {
        var entries: [String: TOMLNode] = [:]
        for key in table.keys {
            if let value = table[key] { entries[key] = node(value) }
        }
        return entries
    }

    private static func node(_ value: any TOMLValueConvertible) -> TOMLNode {
        switch value.type {
        case .string: value.string.map(TOMLNode.text) ?? .other("a text")
        case .int: value.int.map(TOMLNode.integer) ?? .other("a number")
        case .bool: value.bool.map(TOMLNode.boolean) ?? .other("true or false")
        case .array: value.array.map { .array($0.map(node)) } ?? .other("a list")
        case .table: value.table.map { .table(entries($0)) } ?? .other("a section")
        case .double: .other("a number with a fraction")
        case .date, .time, .dateTime: .other("a date or time")
        }
    }
}
