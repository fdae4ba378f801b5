internal import COpenSSL
internal import Cryptography
internal import Engine
internal import Lifecycle

/// HMAC with SHA-256 (RFC 2104) under one key.
struct HMACSHA256: Sendable {
    static let byteCount = 32

    private static let algorithm = unsafe SharedObject(
        EVP_MAC_fetch(nil, "HMAC", nil),
        release: { unsafe EVP_MAC_free($0) }
    )

    /// Keyed once and only copied from.
    private let keyed: SharedObject

    init(key: Secret) throws(VaultError) {
        let keyed: SharedObject? = key.withBytes { bytes in
            guard let algorithm = Self.algorithm,
                let context = unsafe SharedObject(
                    EVP_MAC_CTX_new(algorithm.pointer),
                    release: { unsafe EVP_MAC_CTX_free($0) }
                ),
                Self.setKey(bytes, of: context)
            else { return nil }
            return context
        }
        guard let keyed else {
            ERR_clear_error()
            throw VaultError(kind: .library)
        }
        self.keyed = keyed
    }

    func code(for message: [UInt8]) throws(VaultError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Self.byteCount)
        var written = 0
        guard
            let context = unsafe SharedObject(
                EVP_MAC_CTX_dup(keyed.pointer),
                release: { unsafe EVP_MAC_CTX_free($0) }
            ),
            unsafe EVP_MAC_update(context.pointer, message, message.count) == 1,
            unsafe EVP_MAC_final(context.pointer, &code, &written, code.count) == 1,
            written == code.count
        else {
            ERR_clear_error()
            throw VaultError(kind: .library)
        }
        return code
    }

    private static func setKey(_ key: [UInt8], of context: SharedObject) -> Bool {
        var digest = Array("SHA256".utf8CString)
        return unsafe digest.withUnsafeMutableBufferPointer { digest in
            unsafe OSSL_MAC_PARAM_DIGEST.withCString { name in
                let parameters = unsafe [
                    OSSL_PARAM_construct_utf8_string(name, digest.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return unsafe EVP_MAC_init(context.pointer, key, key.count, parameters) == 1
            }
        }
    }
}

extension HMACSHA256 {
    /// Derives 32 bytes for one purpose from a uniformly random key: the first block of HKDF-Expand
    /// (RFC 5869 §2.3; §3.3 allows to leave the extract step out for such a key).
    static func derive(from key: Secret, purpose: StaticString) throws(VaultError) -> [UInt8] {
        try HMACSHA256(key: key).code(for: Array(purpose.description.utf8) + [1])
    }
}
