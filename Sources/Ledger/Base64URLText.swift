/// Base64 for URLs without padding (RFC 4648 §5): what a keyed hash looks like in a leaf.
package enum Base64URLText {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )

    /// The text's bytes.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xffff
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int(bits >> bitCount & 0x3f)])
            }
        }
        if bitCount > 0 { text.append(alphabet[Int(bits << (6 - bitCount) & 0x3f)]) }
        return text
    }

    /// The bytes; `nil` unless `text` is the one encoding of them.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xffff
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
        return encode(bytes).elementsEqual(text.utf8) ? bytes : nil
    }
}
