/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
    private static let digits = Base64Digits(ending: "+/")

    package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        digits.append(bytes, to: &text)
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    package static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: encode(bytes), as: UTF8.self)
    }

    /// Decodes; `nil` unless `text` is exactly what encoding the result gives.
    ///
    /// With `ignoringSpareBits` the last digit may have bits that belong to no byte, as when its
    /// text was not made by encoding bytes.
    package static func decode(
        _ text: some Collection<UInt8>,
        ignoringSpareBits: Bool = false
    ) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        return digits.decode(text.dropLast(padding), ignoringSpareBits: ignoringSpareBits)
    }
}

/// Base64url without padding (RFC 4648 §5), as in a JWT (RFC 7515 §2).
package enum Base64URL {
    private static let digits = Base64Digits(ending: "-_")

    package static func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        digits.append(bytes, to: &text)
    }

    package static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes; `nil` unless `text` is exactly what encoding the result gives.
    ///
    /// Two texts for one signature would be two tokens, since a used token is known by its hash.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { digits.decode(text) }
}

/// The 64 digits of one alphabet.
private struct Base64Digits {
    private let digits: [UInt8]
    /// By byte; 255 for a byte that is no digit.
    private var values = [UInt8](repeating: 255, count: 256)

    init(ending: StaticString) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        digits = Array(letters.utf8) + Array(ending.description.utf8)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    }

    /// Generic code of another module is not specialized: there each byte would be a call.
    func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        append(Array(bytes), to: &text)
    }

    func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        // Exact growth would copy the text at each part of a token.
        if text.isEmpty { text.reserveCapacity((bytes.count + 2) / 3 * 4) }
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xffff
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(bits >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(bits << (6 - bitCount) & 63)]) }
    }

    func decode(
        _ text: some Collection<UInt8>,
        ignoringSpareBits: Bool = false
    ) -> [UInt8]? {
        decode(Array(text), ignoringSpareBits: ignoringSpareBits)
    }

    func decode(_ text: [UInt8], ignoringSpareBits: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for digit in text {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xffff
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
        let isCanonical = bits & (1 << bitCount - 1) == 0
        return bitCount < 6 && (isCanonical || ignoringSpareBits) ? bytes : nil
    }
}
