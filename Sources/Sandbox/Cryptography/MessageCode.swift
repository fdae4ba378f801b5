import COpenSSL

/// Keyed hashes (RFC 2104).
enum MessageCode {
    static func sha256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        unsafe code(EVP_sha256(), length: 32, key: key, message: message)
    }

    /// For OAuth 1.0a, which knows no better (RFC 5849 §3.4.2).
    static func sha1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        unsafe code(EVP_sha1(), length: 20, key: key, message: message)
    }

    private static func code(
        _ digest: OpaquePointer?,
        length: Int,
        key: [UInt8],
        message: [UInt8]
    ) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: length)
        var count: UInt32 = 0
        let result = unsafe HMAC(
            digest,
            key,
            Int32(key.count),
            message,
            message.count,
            &code,
            &count
        )
        precondition(unsafe result != nil, "libcrypto without HMAC cannot serve TLS either")
        return code
    }
}
