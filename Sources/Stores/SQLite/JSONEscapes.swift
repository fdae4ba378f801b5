/// The escapes of JSON in texts that are no JSON (RFC 8259, 7).
enum JSONEscapes {
    /// The text with each character in the place of its escape; what is no escape stays.
    static func removed(from text: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.first else {
                kept.append(byte)
                continue
            }
            if let plain = single[kind] {
                kept.append(plain)
                rest.removeFirst()
            } else if kind == UInt8(ascii: "u"), let scalar = scalar(&rest) {
                kept += Array(String(scalar).utf8)
            } else {
                kept.append(byte)
            }
        }
        return kept
    }

    private static let single: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12,
        UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
    ]

    /// Reads `uXXXX`, or two of them for a pair; takes nothing when there is no character.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let high = unit(rest) else { return nil }
        if let scalar = Unicode.Scalar(high) {
            rest = rest.dropFirst(5)
            return scalar
        }
        let second = rest.dropFirst(5)
        guard (0xd800..<0xdc00).contains(high), second.first == UInt8(ascii: "\\"),
            let low = unit(second.dropFirst()), (0xdc00..<0xe000).contains(low)
        else { return nil }
        rest = second.dropFirst(6)
        return Unicode.Scalar(0x10000 + UInt32(high - 0xd800) << 10 + UInt32(low - 0xdc00))
    }

    /// The number behind a `u`.
    private static func unit(_ text: ArraySlice<UInt8>) -> UInt16? {
        let digits = text.dropFirst().prefix(4)
        guard text.first == UInt8(ascii: "u"), digits.count == 4,
            digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 })
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
