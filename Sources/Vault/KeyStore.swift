internal import COpenSSL
internal import Cryptography
internal import Lifecycle

/// Reads one private key through OSSL_STORE (ossl_store(7)), from memory or from a URI.
@safe
struct KeyStore: ~Copyable {
    /// Why there is no key.
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

    /// Loads the only private key there is.
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
