internal import COpenSSL

/// Keyed hashes (RFC 2104).
package enum KeyedHash {
    package static func sha256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        unsafe code(EVP_sha256(), key, message)
    }

    /// For OAuth 1.0a, which knows no better (RFC 5849 §3.4.2).
    package static func sha1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        unsafe code(EVP_sha1(), key, message)
    }

    /// Whether a code is the keyed hash with SHA-256; compares in constant time.
    package static func isValid(_ code: [UInt8], key: [UInt8], message: [UInt8]) -> Bool {
        let expected = sha256(key: key, message: message)
        return unsafe code.count == expected.count
            && CRYPTO_memcmp(code, expected, expected.count) == 0
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
        precondition(unsafe end != nil, "libcrypto has no such HMAC: see openssl.cnf")
        return Array(code.prefix(Int(count)))
    }
}
