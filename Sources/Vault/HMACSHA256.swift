internal import COpenSSL
internal import Cryptography
package import Engine
package import Lifecycle

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

/// ``Engine/KeyedHasher`` under the key of ``FileHashKey``.
package struct HMACHasher: KeyedHasher {
    /// The keyed hash of a fixed label: the state database keeps it, and a start with another key
    /// (a state directory restored without its `hash.key`) is noticed before anything is looked up.
    package let fingerprint: [UInt8]

    private let mac: HMACSHA256

    /// - Parameter key: 32 random bytes.
    /// - Throws: ``Engine/VaultError`` of kind `library` when libcrypto fails.
    package init(key: Secret) throws(VaultError) {
        mac = try HMACSHA256(key: key)
        // No domain holds a space, so no hash of a text can equal the fingerprint.
        fingerprint = try mac.code(for: Array("key fingerprint\0".utf8))
    }

    /// Hashes `text`; the domain's name and a NUL go first, so that no text of one domain is one of
    /// another.
    ///
    /// - Returns: 32 bytes.
    package func hash(_ text: String, domain: HashDomain) -> [UInt8] {
        var message = Array(domain.rawValue.utf8)
        message.append(0)
        message.append(contentsOf: text.utf8)
        defer { message.wipe() }
        do throws(VaultError) {
            return try mac.code(for: message)
        } catch {
            // The key worked in `init`, so memory is gone; the Swift runtime stops then, too.
            preconditionFailure("cannot hash (crypto_library): libcrypto is out of memory")
        }
    }
}

/// Signs with a shared secret, such as a client secret: HS256 (RFC 7518 §3.2).
package struct HMACSigner: MessageSigner {
    private let mac: HMACSHA256

    package var algorithm: SigningAlgorithm { .hs256 }

    /// Keys the code with a secret of any length; throws `library` when libcrypto fails.
    package init(key: Secret) throws(VaultError) { mac = try HMACSHA256(key: key) }

    /// Makes 32 bytes; throws `library` when libcrypto fails.
    package func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        try mac.code(for: message)
    }
}
