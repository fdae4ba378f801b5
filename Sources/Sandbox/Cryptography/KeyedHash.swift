import COpenSSL

/// Keyed hashes (RFC 2104).
enum KeyedHash {
    static func sha256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        unsafe code(EVP_sha256(), key, message)
    }

    /// For OAuth 1.0a, which knows no better (RFC 5849 §3.4.2).
    static func sha1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        unsafe code(EVP_sha1(), key, message)
    }

    private static func code(
        _ digest: OpaquePointer?,
        _ key: [UInt8],
        _ message: [UInt8]
    ) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let (keyCount, messageCount) = (Int32(key.count), message.count)
        let end = unsafe HMAC(digest, key, keyCount, message, messageCount, &code, &count)
        precondition(unsafe end != nil, "libcrypto without HMAC cannot serve TLS either")
        return Array(code.prefix(Int(count)))
    }
}
