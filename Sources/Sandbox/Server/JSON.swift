/// A JSON value to be written; the members keep their order.
enum JSON: Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case list([JSON])
    case object([Member])
    case null
    /// A member with this value is left out.
    case absent

    /// One member of an object.
    struct Member: Equatable, Sendable {
        let name: String
        let value: JSON
    }

    /// `text`, or nothing at all.
    static func optional(_ text: String?) -> JSON {
        text.map { .text($0) } ?? .absent
    }

    /// The value of a member; `nil` when there is none.
    func member(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of the value, without blanks.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): Self.write(text, to: &bytes)
        case .integer(let number): bytes += "\(number)".utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .null, .absent: bytes += "null".utf8
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.filter({ $0.value != .absent }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// A string (RFC 8259 §7).
    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                bytes += "\\u00\(byte < 16 ? "0" : "1")\(String(byte % 16, radix: 16))".utf8
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSON: ExpressibleByStringInterpolation {
    init(stringLiteral text: String) { self = .text(text) }
}

extension JSON: ExpressibleByIntegerLiteral {
    init(integerLiteral number: Int64) { self = .integer(number) }
}

extension JSON: ExpressibleByBooleanLiteral {
    init(booleanLiteral flag: Bool) { self = .boolean(flag) }
}

extension JSON: ExpressibleByArrayLiteral {
    init(arrayLiteral values: JSON...) { self = .list(values) }
}

extension JSON: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(members.map { Member(name: $0.0, value: $0.1) })
    }
}
