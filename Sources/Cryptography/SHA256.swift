internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    package static let byteCount = 32

    /// Fetched once: libcrypto would look it up for each hash.
    fileprivate static let algorithm = unsafe SharedObject(
        EVP_MD_fetch(nil, "SHA256", nil),
        release: { unsafe EVP_MD_free($0) }
    )
    fileprivate static let absent = "libcrypto has no SHA-256: does openssl.cnf activate 'default'?"

    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: byteCount)
        let md = unsafe algorithm?.pointer
        let isDone = unsafe EVP_Digest(message, message.count, &hash, nil, md, nil)
        precondition(isDone == 1, absent)
        return hash
    }
}

/// SHA-256 over bytes that come in pieces.
@safe
package final class RunningSHA256 {
    private let context: OpaquePointer
    /// libcrypto would go on, with other bytes.
    private var isFinished = false

    package init() {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, SHA256.algorithm?.pointer, nil) == 1
        else { fatalError(SHA256.absent) }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package func add(_ bytes: [UInt8]) {
        precondition(!isFinished, "SHA-256 was finished before")
        let isDone = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(isDone == 1, "libcrypto cannot go on with SHA-256")
    }

    /// 32 bytes; nothing can be added any more.
    package func finish() -> [UInt8] {
        precondition(!isFinished, "SHA-256 was finished twice")
        isFinished = true
        var hash = [UInt8](repeating: 0, count: SHA256.byteCount)
        let isDone = unsafe EVP_DigestFinal_ex(context, &hash, nil)
        precondition(isDone == 1, "libcrypto cannot finish SHA-256")
        return hash
    }
}

/// MD5 (RFC 1321), for headers that ask for it; it protects nothing.
package enum MD5 {
    /// 16 bytes; `nil` where the system's policy forbids it (fips_module(7)).
    package static func hash(_ message: [UInt8]) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: 16)
        let isDone = unsafe EVP_Digest(message, message.count, &hash, nil, EVP_md5(), nil)
        guard isDone == 1 else {
            ERR_clear_error()
            return nil
        }
        return hash
    }
}

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
