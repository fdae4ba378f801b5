internal import Lifecycle

/// Base64 (RFC 4648 §4) for keys: strict, and every intermediate copy is wiped.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Reads base64 with white space anywhere and padding optional.
    ///
    /// - Returns: `nil` for other characters, misplaced padding or unused bits that are not zero.
    static func decode(_ text: [UInt8]) -> Secret? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4 + 3)
        defer { bytes.wipe() }
        var bits: UInt32 = 0
        var bitCount = 0
        var digitCount = 0
        var paddingCount = 0
        for character in text where ![0x20, 0x09, 0x0a, 0x0d].contains(character) {
            if character == UInt8(ascii: "=") {
                paddingCount += 1
                continue
            }
            guard paddingCount == 0, let value = alphabet.firstIndex(of: character) else {
                return nil
            }
            digitCount += 1
            bits = (bits << 6 | UInt32(value)) & 0xffff
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        }
        let isPadded = (digitCount + paddingCount) % 4 == 0 && paddingCount <= 2
        guard isPadded || paddingCount == 0, digitCount % 4 != 1,
            bits & (1 << UInt32(bitCount) - 1) == 0
        else { return nil }
        return Secret(bytes)
    }

    /// Writes padded base64; the caller wipes the result.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for position in 0..<4 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * position) & 0x3f)]
                text.append(position <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return text
    }
}
