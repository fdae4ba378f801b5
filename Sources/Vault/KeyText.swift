import Encoding
internal import Lifecycle

/// Base64 (RFC 4648 §4) of a key as people keep it: white space anywhere, padding optional.
enum KeyText {
    /// Decodes; every copy on the way is wiped.
    ///
    /// - Returns: `nil` for other characters, misplaced padding or unused bits that are not zero.
    static func decode(_ text: [UInt8]) -> Secret? {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count + 3)
        defer { digits.wipe() }
        for byte in text where ![0x20, 0x09, 0x0a, 0x0d].contains(byte) { digits.append(byte) }
        if digits.last != UInt8(ascii: "=") {
            while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
        }
        guard var bytes = Base64.decode(digits) else { return nil }
        defer { bytes.wipe() }
        return Secret(bytes)
    }
}
