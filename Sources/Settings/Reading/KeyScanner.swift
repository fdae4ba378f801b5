/// Finds the lines of keys in a TOML document (TOML 1.0.0), and refuses what would nest too deep.
///
/// Lenient: it runs before the real parser, which decides what is valid. Where the document is not, the
/// scan gives up on the line, and only positions get worse.
struct KeyScanner {
    /// The deepest nesting that is read; a configuration needs 7. The parser recurses without a bound
    /// for dotted keys, so that a line of a million dots would end the process.
    static let depthMax = 16

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var section: [KeyStep] = []
    private var arrayCounts: [[KeyStep]: Int] = [:]
    private(set) var locations = KeyLocations()
    /// Set when the nesting limit was passed; the scan stops there.
    private(set) var tooDeepLine: Int?

    /// Scans the whole document.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        while tooDeepLine == nil {
            skipBlank(newlines: true)
            guard let byte = peek else { break }
            if byte == UInt8(ascii: "[") {
                scanHeader()
            } else {
                scanPair(in: section)
            }
            skipLine()
        }
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

    private mutating func skipLine() {
        while let byte = peek, byte != 0x0a { advance() }
    }
}

// MARK: - Headers and keys

extension KeyScanner {
    private mutating func scanHeader() {
        let isArray = looking(at: "[[")
        position += isArray ? 2 : 1
        let start = line
        let names = scanKey()
        guard !names.isEmpty, tooDeepLine == nil else { return }
        var path: [KeyStep] = []
        for (offset, name) in names.enumerated() {
            path.append(.key(name))
            locations.note(path, line: start)
            let isLast = offset == names.count - 1
            if isLast && isArray { arrayCounts[path, default: 0] += 1 }
            if let count = arrayCounts[path] { path.append(.index(count - 1)) }
        }
        locations.note(path, line: start)
        section = path
    }

    private mutating func scanPair(in parent: [KeyStep]) {
        let start = line
        let names = scanKey()
        guard !names.isEmpty, parent.count + names.count <= Self.depthMax else {
            if !names.isEmpty { tooDeepLine = start }
            return
        }
        var path = parent
        for name in names {
            path.append(.key(name))
            locations.note(path, line: start)
        }
        skipBlank(newlines: false)
        guard peek == UInt8(ascii: "=") else { return }
        advance()
        scanValue(at: path)
    }

    /// Reads a dotted key; empty when there is none.
    private mutating func scanKey() -> [String] {
        var names: [String] = []
        while tooDeepLine == nil {
            skipBlank(newlines: false)
            guard let name = scanName() else { return names }
            names.append(name)
            if names.count > Self.depthMax { tooDeepLine = line }
            skipBlank(newlines: false)
            guard peek == UInt8(ascii: ".") else { return names }
            advance()
        }
        return []
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
    private mutating func scanValue(at path: [KeyStep]) {
        guard path.count <= Self.depthMax else {
            tooDeepLine = line
            return
        }
        skipBlank(newlines: false)
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString()
        case UInt8(ascii: "["): scanArray(at: path)
        case UInt8(ascii: "{"): scanInlineTable(at: path)
        default:
            while let byte = peek, !",]}#\n".utf8.contains(byte) { advance() }
        }
    }

    private mutating func scanArray(at path: [KeyStep]) {
        advance()
        var index = 0
        while tooDeepLine == nil {
            skipBlank(newlines: true)
            guard let byte = peek else { return }
            if byte == UInt8(ascii: "]") { return advance() }
            locations.note(path + [.index(index)], line: line)
            scanValue(at: path + [.index(index)])
            index += 1
            skipBlank(newlines: true)
            if peek == UInt8(ascii: ",") {
                advance()
            } else if peek != UInt8(ascii: "]") {
                return
            }
        }
    }

    private mutating func scanInlineTable(at path: [KeyStep]) {
        advance()
        while tooDeepLine == nil {
            skipBlank(newlines: false)
            guard let byte = peek else { return }
            if byte == UInt8(ascii: "}") { return advance() }
            scanPair(in: path)
            skipBlank(newlines: false)
            if peek == UInt8(ascii: ",") {
                advance()
            } else if peek != UInt8(ascii: "}") {
                return
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
