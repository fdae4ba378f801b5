import Crypto
import Lifecycle

/// HMAC-SHA-256 of a body under a secret that is shared with the provider (RFC 2104).
enum MessageCode {
    /// Compares in constant time.
    static func isValid(_ code: [UInt8], of message: some Sequence<UInt8>, key: Secret) -> Bool {
        key.withBytes { bytes in
            HMAC<SHA256>.isValidAuthenticationCode(
                code,
                authenticating: Array(message),
                using: SymmetricKey(data: bytes)
            )
        }
    }

    /// Reads hexadecimal digits of either case; `nil` unless they are 32 bytes.
    static func hexadecimal(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
