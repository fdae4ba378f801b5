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
