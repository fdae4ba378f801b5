/// The fields of a body of type `application/x-www-form-urlencoded` (WHATWG URL §5.1).
struct FormFields: Sendable {
    /// A vendor sends three.
    static let countMax = 32

    private let fields: [String: String]

    /// Decodes; `nil` when a name occurs twice, a part is not UTF-8, or there are too many.
    init?(_ body: [UInt8]) {
        var fields: [String: String] = [:]
        let parts = body.split(separator: UInt8(ascii: "&"))
        guard parts.count <= Self.countMax else { return nil }
        for part in parts {
            let pair = part.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard let name = Self.decode(pair[0]),
                let value = pair.count > 1 ? Self.decode(pair[1]) : "",
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        self.fields = fields
    }

    subscript(name: String) -> String? { fields[name] }

    private static func decode(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(nibble),
                    let low = rest.popFirst().flatMap(nibble)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
