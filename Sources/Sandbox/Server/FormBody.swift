/// An `application/x-www-form-urlencoded` body, taken apart (WHATWG URL Standard §5.1).
struct FormBody: Sendable {
    private var fields: [String: String] = [:]
    /// Whether a name came twice, which OAuth forbids (RFC 6749 §3.2).
    private(set) var hasDuplicates = false

    init(_ bytes: [UInt8]) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let name = Self.decoded(parts[0])
            let value = parts.count == 2 ? Self.decoded(parts[1]) : ""
            if fields.updateValue(value, forKey: name) != nil {
                hasDuplicates = true
            }
        }
    }

    /// The value of a field; `nil` when it is missing or empty.
    subscript(_ name: String) -> String? {
        guard let value = fields[name], !value.isEmpty else { return nil }
        return value
    }

    /// The fields, in no order.
    var pairs: [(String, String)] { fields.map { ($0.key, $0.value) } }

    /// Percent-encoded text, with only RFC 3986's unreserved characters left as they are (§2.3).
    static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "-._~".unicodeScalars.contains(scalar))
            if isPlain {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16).uppercased()
            }
        }
    }

    /// Form-encoded text in the clear.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap {
                    Character(Unicode.Scalar($0)).hexDigitValue
                }
                if digits.count == 2 {
                    decoded.append(UInt8(digits[0] * 16 + digits[1]))
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            default:
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
