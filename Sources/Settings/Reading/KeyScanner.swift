/// Finds the lines of keys in a TOML document (TOML 1.0.0), before the real parser sees it.
///
/// The parser decides what is valid, except where it must not be asked: it aborts the process for
/// some malformed headers and numbers, and recurses without a bound for dotted keys. So keys,
/// brackets and plain values are checked here; strings are only skipped. Floats and dates are
/// refused as well, because no setting takes one.
struct KeyScanner {
    /// The first thing that the parser must not see; the scan stops there.
    struct Problem: Error, Hashable {
        let kind: ConfigurationProblem.Kind
        let line: Int
        let cause: String
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var section: [KeyStep] = []
    private var arrayCounts: [[KeyStep]: Int] = [:]
    private(set) var locations = KeyLocations()
    private(set) var problem: Problem?

    /// Scans the document up to its end or its first problem.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        do {
            try scanDocument()
        } catch {
            problem = error
        }
    }

    private mutating func scanDocument() throws(Problem) {
        while true {
            skipBlank(newlines: true)
            guard let byte = peek else { return }
            if byte == UInt8(ascii: "[") {
                try scanHeader()
            } else {
                try scanPair(in: section)
            }
            skipBlank(newlines: false)
            guard peek == nil || peek == 0x0a || peek == UInt8(ascii: "#") else {
                throw syntax("there is something after the end; one key or header per line")
            }
        }
    }

    private func syntax(_ cause: String) -> Problem {
        Problem(kind: .syntax, line: line, cause: cause)
    }

    private func tooDeep() -> Problem {
        Problem(
            kind: .tooDeep,
            line: line,
            cause: "keys and lists nest deeper than \(SettingsLimits.depthMax) levels here"
        )
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func looking(at text: StaticString, offset: Int = 0) -> Bool {
        let start = position + offset
        let wanted = Array(text.description.utf8)
        guard start + wanted.count <= bytes.count else { return false }
        return bytes[start..<(start + wanted.count)].elementsEqual(wanted)
    }

    private mutating func advance() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private mutating func skipBlank(newlines: Bool) {
        while let byte = peek {
            switch byte {
            case 0x20, 0x09, 0x0d: advance()
            case 0x0a where newlines: advance()
            case UInt8(ascii: "#") where newlines:
                while let byte = peek, byte != 0x0a { advance() }
            default: return
            }
        }
    }
}

// MARK: - Headers and keys

extension KeyScanner {
    private mutating func scanHeader() throws(Problem) {
        let isArray = looking(at: "[[")
        position += isArray ? 2 : 1
        let names = try scanKey()
        guard looking(at: isArray ? "]]" : "]") else {
            throw syntax("the header has no closing \(isArray ? "]]" : "]")")
        }
        position += isArray ? 2 : 1
        var path: [KeyStep] = []
        for (offset, name) in names.enumerated() {
            path.append(.key(name))
            locations.note(path, line: line)
            let isLast = offset == names.count - 1
            if isLast && isArray { arrayCounts[path, default: 0] += 1 }
            if let count = arrayCounts[path] { path.append(.index(count - 1)) }
        }
        guard path.count <= SettingsLimits.depthMax else { throw tooDeep() }
        locations.note(path, line: line)
        section = path
    }

    private mutating func scanPair(in parent: [KeyStep]) throws(Problem) {
        let names = try scanKey()
        guard parent.count + names.count <= SettingsLimits.depthMax else { throw tooDeep() }
        var path = parent
        for name in names {
            path.append(.key(name))
            locations.note(path, line: line)
        }
        guard peek == UInt8(ascii: "=") else { throw syntax("write KEY = VALUE") }
        advance()
        try scanValue(at: path)
    }

    /// Reads a dotted key and the blanks after it; at least one name.
    private mutating func scanKey() throws(Problem) -> [String] {
        var names: [String] = []
        while true {
            skipBlank(newlines: false)
            guard let name = scanName() else {
                throw syntax("a key is missing; keys are letters, digits, '_' and '-'")
            }
            names.append(name)
            guard names.count <= SettingsLimits.depthMax else { throw tooDeep() }
            skipBlank(newlines: false)
            guard peek == UInt8(ascii: ".") else { return names }
            advance()
        }
    }

    private mutating func scanName() -> String? {
        guard let byte = peek else { return nil }
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            let start = position + 1
            skipString()
            guard position > start else { return nil }
            // Escapes stay as written: no key of ours needs one, and others are shown, not used.
            return String(decoding: bytes[start..<(position - 1)], as: UTF8.self)
        }
        let start = position
        while let byte = peek, Self.isBare(byte) { advance() }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: true
        default: false
        }
    }
}

// MARK: - Values

extension KeyScanner {
    private mutating func scanValue(at path: [KeyStep]) throws(Problem) {
        guard path.count <= SettingsLimits.depthMax else { throw tooDeep() }
        skipBlank(newlines: false)
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString()
        case UInt8(ascii: "["): try scanArray(at: path)
        case UInt8(ascii: "{"): try scanInlineTable(at: path)
        default: try scanPlainValue()
        }
    }

    /// A whole number or a boolean.
    private mutating func scanPlainValue() throws(Problem) {
        let start = position
        while let byte = peek, !",]}#\n\r \t".utf8.contains(byte) { advance() }
        let token = bytes[start..<position]
        guard !Self.isWholeNumber(token), !token.elementsEqual("true".utf8),
            !token.elementsEqual("false".utf8)
        else { return }
        throw syntax(
            "the value is neither a text in quotes, a whole number, true, false, a list nor { … }"
        )
    }

    /// `[+-]?(0|[1-9](_?[0-9])*)`.
    private static func isWholeNumber(_ token: ArraySlice<UInt8>) -> Bool {
        let hasSign = token.first == UInt8(ascii: "+") || token.first == UInt8(ascii: "-")
        let digits = hasSign ? token.dropFirst() : token
        guard let first = digits.first, (0x30...0x39).contains(first) else { return false }
        guard digits.count == 1 || first != 0x30 else { return false }
        var isAfterDigit = false
        for byte in digits {
            let isDigit = (0x30...0x39).contains(byte)
            guard isDigit || (byte == UInt8(ascii: "_") && isAfterDigit) else { return false }
            isAfterDigit = isDigit
        }
        return isAfterDigit
    }

    private mutating func scanArray(at path: [KeyStep]) throws(Problem) {
        advance()
        var index = 0
        while true {
            skipBlank(newlines: true)
            guard let byte = peek else { throw syntax("a list has no closing ]") }
            if byte == UInt8(ascii: "]") { return advance() }
            locations.note(path + [.index(index)], line: line)
            try scanValue(at: path + [.index(index)])
            index += 1
            skipBlank(newlines: true)
            if peek == UInt8(ascii: ",") {
                advance()
            } else if peek != UInt8(ascii: "]") {
                throw syntax("a list needs ',' between entries and ']' at its end")
            }
        }
    }

    private mutating func scanInlineTable(at path: [KeyStep]) throws(Problem) {
        advance()
        while true {
            skipBlank(newlines: false)
            guard let byte = peek else { throw syntax("a { has no closing }") }
            if byte == UInt8(ascii: "}") { return advance() }
            try scanPair(in: path)
            skipBlank(newlines: false)
            if peek == UInt8(ascii: ",") {
                advance()
            } else if peek != UInt8(ascii: "}") {
                throw syntax(
                    "{ … } needs ',' between its keys and '}' at its end, on the same line"
                )
            }
        }
    }

    /// Skips a string of any of the four kinds; a one-line string ends with its line at the latest.
    private mutating func skipString() {
        guard let quote = peek else { return }
        let isBasic = quote == UInt8(ascii: "\"")
        let isMultiline = isBasic ? looking(at: "\"\"\"") : looking(at: "'''")
        position += isMultiline ? 3 : 1
        while let byte = peek {
            if isBasic && byte == UInt8(ascii: "\\") {
                advance()
                if peek != nil { advance() }
                continue
            }
            if byte == 0x0a && !isMultiline { return }
            guard byte == quote else {
                advance()
                continue
            }
            guard isMultiline else { return advance() }
            let isEnd = isBasic ? looking(at: "\"\"\"") : looking(at: "'''")
            guard isEnd else {
                advance()
                continue
            }
            position += 3
            // Up to two quotes may stand before the closing three (TOML 1.0.0, "String").
            for _ in 0..<2 where peek == quote { advance() }
            return
        }
    }
}
