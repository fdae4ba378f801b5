import COpenSSL
import Encoding

enum TokenGenerator {
    /// 256 random bits, base64url.
    static func text() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe RAND_bytes(&bytes, Int32(bytes.count))
        precondition(isDone == 1, "libcrypto without randomness cannot serve TLS either")
        return Base64URL.text(bytes)
    }
}
