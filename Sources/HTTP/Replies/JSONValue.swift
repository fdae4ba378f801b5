/// Strictly parsed JSON (RFC 8259) from a peer that is not trusted; redacted, since it may hold
/// tokens.
///
/// Refused as a whole: invalid UTF-8, duplicate member names (two readers could disagree on which
/// one counts), more than 64 levels, anything after the value.
package indirect enum JSONValue: Sendable, CustomStringConvertible, CustomReflectable {
    case object([JSONName: JSONValue])
    case array([JSONValue])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    /// The deepest documented answer is a query of Firestore: two levels around each field, and
    /// three for each of up to 20 maps in it.
    package static let depthMax = 64

    /// Parses `bytes`; `nil` when they are not acceptable JSON.
    package init?(_ bytes: [UInt8]) {
        // Checked once here, so that slices at ASCII delimiters are valid too.
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var parser = JSONParser(bytes)
        do {
            self = try parser.document()
        } catch {
            return nil
        }
    }

    package var description: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The member of an object; `nil` for anything else.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[JSONName(name)]
    }

    /// The text; `nil` for anything else.
    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The number; `nil` for anything else.
    package var number: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }

    /// The truth value; `nil` for anything else.
    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The elements; `nil` for anything else.
    package var array: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }
}

/// A recursive-descent parser; the depth limit bounds its stack.
private struct JSONParser {
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(Malformed) -> JSONValue {
        let value = try value(depth: 1)
        skipSpace()
        guard position == bytes.count else { throw Malformed() }
        return value
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        guard depth <= JSONValue.depthMax else { throw Malformed() }
        skipSpace()
        switch peek() {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object(depth: Int) throws(Malformed) -> JSONValue {
        position += 1
        var members: [JSONName: JSONValue] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw Malformed() }
            let value = try value(depth: depth + 1)
            let old = members.updateValue(value, forKey: JSONName(name))
            guard old == nil else { throw Malformed() }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw Malformed() }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Malformed) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw Malformed() }
        return .array(elements)
    }

    private mutating func string() throws(Malformed) -> String {
        guard take(UInt8(ascii: "\"")) else { throw Malformed() }
        var text = ""
        var start = position
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                text += String(decoding: bytes[start..<position], as: UTF8.self)
                position += 1
                return text
            case UInt8(ascii: "\\"):
                text += String(decoding: bytes[start..<position], as: UTF8.self)
                position += 1
                text.unicodeScalars.append(try escape())
                start = position
            case 0..<0x20: throw Malformed()
            default: position += 1
            }
        }
        throw Malformed()
    }

    private mutating func escape() throws(Malformed) -> Unicode.Scalar {
        guard let byte = peek() else { throw Malformed() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw Malformed()
        }
    }

    private mutating func unicodeEscape() throws(Malformed) -> Unicode.Scalar {
        let first = try codeUnit()
        var code = first
        if (0xd800...0xdbff).contains(first) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw Malformed() }
            let second = try codeUnit()
            guard (0xdc00...0xdfff).contains(second) else { throw Malformed() }
            code = 0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw Malformed() }
        return scalar
    }

    private mutating func codeUnit() throws(Malformed) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else {
                throw Malformed()
            }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    private mutating func number() throws(Malformed) -> Double {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)),
            value.isFinite
        else { throw Malformed() }
        return value
    }

    private mutating func digits() throws(Malformed) {
        let start = position
        while let byte = peek(), (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw Malformed() }
    }

    private mutating func literal(
        _ text: StaticString,
        _ value: JSONValue
    ) throws(Malformed) -> JSONValue {
        let expected = text.description.utf8
        guard bytes[position...].starts(with: expected) else { throw Malformed() }
        position += expected.count
        return value
    }

    private mutating func skipSpace() {
        while let byte = peek(), [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }
}
