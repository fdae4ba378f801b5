/// Text inside a path or a query (RFC 3986).
package enum PathText {
    /// Decodes one segment or query part strictly.
    ///
    /// - Parameter text: The raw characters, without `/`, `?`, `&` or `=`.
    /// - Returns: The text; `nil` for a broken escape, a character that RFC 3986 §3.3 does not
    ///   allow, or bytes that are not UTF-8.
    package static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard isAllowedRaw(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(HexDigit.value),
                let low = rest.popFirst().flatMap(HexDigit.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes text so that ``decode(_:)`` gives it back: everything but unreserved characters.
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0xf)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A configured name: 1 to 64 of letters, digits, `.`, `_` and `-`; `nil` otherwise.
    package static func componentName(_ text: String) -> String? {
        let isAllowed = text.utf8.allSatisfy { isUnreserved($0) && $0 != UInt8(ascii: "~") }
        return isAllowed && (1...64).contains(text.utf8.count) ? text : nil
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// `pchar` of RFC 3986 without `%`, and without `+`, which some read as a space.
    private static func isAllowedRaw(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || "!$'()*,;:@".utf8.contains(byte)
    }
}
