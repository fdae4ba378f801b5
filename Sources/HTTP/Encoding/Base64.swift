/// Base64 with padding (RFC 4648 §4), the form of `Authorization: Basic` (RFC 7617 §2).
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Encodes `bytes`.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }
}
