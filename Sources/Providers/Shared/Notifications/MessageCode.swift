import Cryptography
import Lifecycle

/// HMAC-SHA-256 of a body under a secret that is shared with the provider (RFC 2104).
enum MessageCode {
    /// Compares in constant time.
    static func isValid(_ code: [UInt8], of message: some Sequence<UInt8>, key: Secret) -> Bool {
        key.withBytes { bytes in
            KeyedHash.isValid(code, key: bytes, message: Array(message))
        }
    }
}
