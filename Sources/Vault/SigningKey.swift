internal import COpenSSL
internal import Cryptography
package import Engine
package import Lifecycle
import Synchronization

/// A private key that signs for a provider, held by libcrypto or by a token behind it.
///
/// Loaded once through OSSL_STORE (ossl_store(7)), so that the key may be a PEM credential or live
/// where a URI such as `pkcs11:` or `handle:` leads. Any number of threads may sign at once; a
/// token does one signature after the other.
package struct SigningKey: MessageSigner {
    package let algorithm: SigningAlgorithm
    private let key: SharedObject
    /// Ready to sign, and only copied from; setting one up costs a third of a signature.
    private let prepared: SharedObject?
    /// Held while a token signs: tpm2-openssl has one connection and no lock of its own.
    private let turn: Turn?

    private final class Turn: Sendable {
        let held = Mutex<Void>(())
    }

    /// Loads the content of a credential, such as Apple's `.p8` file.
    ///
    /// `pem` is PKCS#8 PEM, not encrypted; or one line, the URI of a key, which may hold a PIN.
    ///
    /// - Throws: ``VaultSetupError`` when it is not one private key that fits the algorithm.
    package init(
        pem: Secret,
        credential: String,
        algorithm: SigningAlgorithm
    ) throws(VaultSetupError) {
        try self.init(algorithm, place: credential) { () throws(KeyStore.Failure) in
            guard let uri = Self.uri(in: pem) else { return try KeyStore(memory: pem) }
            return try KeyStore(uri: uri)
        }
    }

    /// Loads or addresses the key that a URI names.
    ///
    /// The scheme is `file` or one of an OpenSSL provider that the system's configuration loads.
    /// The URI must hold no PIN: errors name it without its query.
    ///
    /// - Throws: ``VaultSetupError`` when the URI leads to anything but one private key that fits
    /// the algorithm.
    package init(uri: String, algorithm: SigningAlgorithm) throws(VaultSetupError) {
        try self.init(algorithm, place: String(uri.prefix { $0 != "?" })) {
            () throws(KeyStore.Failure) in try KeyStore(uri: uri)
        }
    }

    private init(
        _ algorithm: SigningAlgorithm,
        place: String,
        open: () throws(KeyStore.Failure) -> KeyStore
    ) throws(VaultSetupError) {
        let key: SharedObject
        do throws(KeyStore.Failure) {
            key = try open().loadPrivateKey()
        } catch {
            throw Self.error(.malformed, algorithm, at: place, detail: error.reason)
        }
        guard Self.isSuitable(key, for: algorithm) else {
            throw Self.error(.wrongType, algorithm, at: place)
        }
        (self.key, self.algorithm) = (key, algorithm)
        turn = Self.tokenProvider(of: key) == nil ? nil : Turn()
        prepared = turn == nil ? Self.prepare(key, algorithm) : nil
        do throws(VaultError) {
            // A key that cannot sign shall stop the start, not the first request.
            _ = try sign([])
        } catch {
            throw Self.error(.library, algorithm, at: place)
        }
    }

    /// Signs `message` with SHA-256.
    ///
    /// - Returns: ES256: r and s, 32 bytes each (RFC 7518 §3.4); RS256 and PS256: the signature as
    ///   long as the modulus (RFC 7518 §3.3 and §3.5).
    /// - Throws: ``Engine/VaultError`` of kind `library` when libcrypto or the token fails.
    package func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        let made = turn.map { $0.held.withLock { _ in digestSign(message) } } ?? digestSign(message)
        let joined =
            algorithm == .es256 ? made.flatMap { ECDSASignature.jose(fromDER: $0) } : made
        // No key for HS256 passes `isSuitable`.
        guard let signature = joined, algorithm != .hs256 else {
            ERR_clear_error()
            throw VaultError(kind: .library)
        }
        return signature
    }
}

extension SigningKey {
    /// 16,384-bit RSA, the largest that libcrypto takes for verifying.
    private static let signatureByteCountMax = 2_048
    /// Longer than any PKCS#11 URI (RFC 7512) that names a key by all that it has.
    private static let uriByteCountMax = 4_096
    /// NIST SP 800-57 part 1, table 2: less than 112 bits of security below.
    private static let rsaBitCountMin: Int32 = 2_048

    /// A token's own implementation need not know how to copy.
    private func context() -> SharedObject? {
        guard let prepared, let copy = SharedObject.digestContext(),
            unsafe EVP_MD_CTX_copy_ex(copy.pointer, prepared.pointer) == 1
        else {
            ERR_clear_error()
            return Self.prepare(key, algorithm)
        }
        return copy
    }

    private static func prepare(
        _ key: SharedObject,
        _ algorithm: SigningAlgorithm
    ) -> SharedObject? {
        var parameters: OpaquePointer?
        let properties = tokenProvider(of: key).map { "?provider=\($0)" } ?? ""
        guard let context = SharedObject.digestContext(),
            unsafe EVP_DigestSignInit_ex(
                context.pointer,
                &parameters,
                "SHA256",
                nil,
                // Else libcrypto's own implementation gets the public half of a token's key.
                properties,
                key.pointer,
                nil
            ) == 1,
            unsafe algorithm != .ps256 || setPSS(parameters)
        else { return nil }
        return context
    }

    /// The OpenSSL provider that holds the key, unless that is libcrypto itself (OSSL_PROVIDER(3)).
    private static func tokenProvider(of key: SharedObject) -> String? {
        guard let provider = unsafe EVP_PKEY_get0_provider(key.pointer),
            let name = unsafe OSSL_PROVIDER_get0_name(provider)
        else { return nil }
        let text = unsafe String(cString: name)
        return ["default", "fips", "base", "legacy"].contains(text) ? nil : text
    }

    /// The one line of a credential that is a URI (RFC 3986 §3.1) and no PEM.
    private static func uri(in credential: Secret) -> String? {
        let text = credential.withBytes { bytes -> String? in
            guard bytes.count <= uriByteCountMax else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
        guard var line = text?[...] else { return nil }
        while let last = line.last, last.isNewline { line.removeLast() }
        guard !line.contains(where: \.isNewline),
            line.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:/) != nil
        else { return nil }
        return String(line)
    }

    /// - Returns: The signature as libcrypto writes it (for ECDSA in DER).
    private func digestSign(_ message: [UInt8]) -> [UInt8]? {
        guard let context = context() else { return nil }
        let size = Int(unsafe EVP_PKEY_get_size(key.pointer))
        guard size > 0, size <= Self.signatureByteCountMax else { return nil }
        return context.digestSign(message, byteCountMax: size)
    }

    /// PSS with a salt as long as the digest (RFC 7518 §3.5); MGF1 takes the digest's hash unless
    /// told (EVP_PKEY_CTX_set_rsa_mgf1_md(3)).
    private static func setPSS(_ parameters: OpaquePointer?) -> Bool {
        unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
    }

    private static func isSuitable(_ key: SharedObject, for algorithm: SigningAlgorithm) -> Bool {
        switch algorithm {
        case .hs256: return false
        case .rs256, .ps256:
            return unsafe EVP_PKEY_is_a(key.pointer, "RSA") == 1
                && EVP_PKEY_get_bits(key.pointer) >= rsaBitCountMin
        case .es256:
            guard unsafe EVP_PKEY_is_a(key.pointer, "EC") == 1 else { return false }
            var name = [CChar](repeating: 0, count: 64)
            var count = 0
            guard
                unsafe EVP_PKEY_get_group_name(key.pointer, &name, name.count, &count) == 1
            else { return false }
            let group = String(
                decoding: name.prefix(count).map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
            return ["prime256v1", "P-256", "secp256r1"].contains(group)
        }
    }
}

extension SigningKey {
    private static func error(
        _ kind: VaultSetupError.Kind,
        _ algorithm: SigningAlgorithm,
        at place: String,
        detail: String? = nil
    ) -> VaultSetupError {
        let expected =
            switch algorithm {
            case .es256: "expected one private key on the curve P-256, PKCS#8 PEM, not encrypted"
            case .hs256: "no private key signs with HS256"
            case .rs256, .ps256:
                "expected one RSA private key of 2048 bits or more, PKCS#8 PEM, not encrypted"
            }
        let cause = detail.map { "\(expected) (\($0))" } ?? expected
        return VaultSetupError(kind, "load signing key", at: place, cause)
    }
}

/// Reads one private key through OSSL_STORE (ossl_store(7)), from memory or from a URI.
@safe
struct KeyStore: ~Copyable {
    struct Failure: Error {
        /// A fixed text, ours or libcrypto's; never anything that was read.
        let reason: String
    }

    private let store: OpaquePointer
    /// Backs the store; a PEM of ours is at most this long (an RSA key of 16,384 bits needs 13
    /// KiB).
    private static let memoryByteCountMax = 65_536
    /// An empty or endless store must not keep us: a key file has a key and perhaps its
    /// certificates.
    private static let objectCountMax = 16

    /// Reads PEM or DER.
    init(memory: Secret) throws(Failure) {
        guard memory.count > 0 else { throw Failure(reason: "it is empty") }
        guard memory.count <= Self.memoryByteCountMax else {
            throw Failure(reason: "it is too long")
        }
        let store: OpaquePointer? = unsafe memory.withBytes { bytes in
            guard let source = unsafe BIO_new(BIO_s_mem()) else { return nil }
            defer { unsafe BIO_free(source) }
            guard unsafe BIO_write(source, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
                return nil
            }
            // UI_null: libcrypto would ask the terminal for the password of an encrypted key.
            let ui = unsafe UI_null()
            return unsafe OSSL_STORE_attach(source, "file", nil, nil, ui, nil, nil, nil, nil)
        }
        guard let store = unsafe store else { throw Self.failure("it cannot be read") }
        unsafe self.store = store
    }

    init(uri: String) throws(Failure) {
        guard let store = unsafe OSSL_STORE_open(uri, UI_null(), nil, nil, nil) else {
            throw Self.failure("it cannot be opened")
        }
        unsafe self.store = store
    }

    deinit { unsafe OSSL_STORE_close(store) }

    func loadPrivateKey() throws(Failure) -> SharedObject {
        guard unsafe OSSL_STORE_expect(store, OSSL_STORE_INFO_PKEY) == 1 else {
            throw Self.failure("it cannot be searched for a private key")
        }
        var found: SharedObject?
        for _ in 0..<Self.objectCountMax where unsafe OSSL_STORE_eof(store) == 0 {
            guard let info = unsafe OSSL_STORE_load(store) else { continue }
            defer { unsafe OSSL_STORE_INFO_free(info) }
            guard unsafe OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_PKEY else { continue }
            guard found == nil else { throw Self.failure("there is more than one private key") }
            found = unsafe SharedObject(
                OSSL_STORE_INFO_get1_PKEY(info),
                release: { unsafe EVP_PKEY_free($0) }
            )
        }
        guard let found else { throw Self.failure("there is no private key") }
        ERR_clear_error()
        return found
    }

    /// Takes libcrypto's reason along, a fixed text such as `bad decrypt`, and empties its queue.
    private static func failure(_ reason: String) -> Failure {
        defer { ERR_clear_error() }
        guard let text = unsafe ERR_reason_error_string(ERR_peek_last_error()) else {
            return Failure(reason: reason)
        }
        return Failure(reason: unsafe "\(reason): \(String(cString: text))")
    }
}
