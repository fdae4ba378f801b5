import COpenSSL
import Cryptography
import Encoding

/// One libcrypto key: the P-256 key of a client, of the sandbox's certificates, or an RSA key that
/// signs id tokens.
struct CryptoKey: Sendable {
    private static let p256 = "prime256v1"
    /// 16,384-bit RSA, the largest that libcrypto takes for verifying.
    private static let signatureByteCountMax = 2_048

    let object: SharedObject

    var pointer: OpaquePointer { unsafe object.pointer }

    /// Takes the reference over; `nil` where there is none.
    init?(owning pointer: OpaquePointer?) {
        let owned = unsafe SharedObject(pointer, release: { unsafe EVP_PKEY_free($0) })
        guard let owned else { return nil }
        object = owned
    }

    /// Makes a key for ES256 (RFC 7518 §3.4).
    static func makeP256() throws(SandboxError) -> CryptoKey { try make("EC", group: p256) }

    /// Makes a key for RS256, of the 2048 bits that RFC 7518 §3.3 asks for (EVP_PKEY_keygen(3)).
    static func makeRSA() throws(SandboxError) -> CryptoKey { try make("RSA") }

    /// Private (PKCS#8) or public.
    init(pem text: String) throws(SandboxError) {
        let found = unsafe MemoryBIO.read(text) { bio in
            // The callback keeps libcrypto from asking a terminal for a passphrase.
            text.contains("PRIVATE KEY")
                ? unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
                : unsafe PEM_read_bio_PUBKEY(bio, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let key = unsafe CryptoKey(owning: found) else {
            throw SandboxError(.unsuitableKey, cannot: "read key", at: "PEM")
        }
        self = key
    }

    init(p256PEM text: String) throws(SandboxError) {
        try self.init(pem: text)
        guard isP256 else {
            throw SandboxError(.unsuitableKey, cannot: "use key", at: "PEM", cause: "not P-256")
        }
    }

    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        let isNamed = unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1
        return isNamed && name.prefix(length).elementsEqual(Self.p256.utf8CString.dropLast())
    }

    var isRSA: Bool { unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 }

    /// The private half as PKCS#8 PEM, the form of Apple's .p8 files.
    func privatePEM() throws(SandboxError) -> String {
        try unsafe MemoryBIO.text { bio in
            unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil)
        }
    }

    func publicPEM() throws(SandboxError) -> String {
        try unsafe MemoryBIO.text { bio in unsafe PEM_write_bio_PUBKEY(bio, pointer) }
    }

    /// Signs with SHA-256: PKCS#1 v1.5 or, for PS256, PSS with RSA, DER for P-256.
    func signature(over message: [UInt8], isPSS: Bool = false) throws(SandboxError) -> [UInt8] {
        var details: OpaquePointer?
        guard let context = SharedObject.digestContext(),
            unsafe EVP_DigestSignInit(context.pointer, &details, EVP_sha256(), nil, pointer) == 1,
            unsafe !isPSS || Self.usePSS(details),
            let signature = context.digestSign(message, byteCountMax: Self.signatureByteCountMax)
        else { throw SandboxError(.cryptography, cannot: "sign message", at: "EVP_DigestSign") }
        return signature
    }

    /// Whether `signature` (DER for P-256) is this key's SHA-256 signature over `message`.
    func verifies(_ signature: [UInt8], over message: [UInt8], isPSS: Bool = false) -> Bool {
        var details: OpaquePointer?
        let (count, messageCount) = (signature.count, message.count)
        guard let context = SharedObject.digestContext(),
            unsafe EVP_DigestVerifyInit(context.pointer, &details, EVP_sha256(), nil, pointer) == 1,
            unsafe !isPSS || Self.usePSS(details),
            unsafe EVP_DigestVerify(context.pointer, signature, count, message, messageCount) == 1
        else {
            ERR_clear_error()
            return false
        }
        return true
    }

    /// One number of the key (`n`, `e`), big end first.
    func number(_ name: String) throws(SandboxError) -> [UInt8] {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, name, &number) == 1,
            let found = unsafe number
        else { throw SandboxError(.cryptography, cannot: "read number of key", at: name) }
        defer { unsafe BN_free(found) }
        var bytes = [UInt8](repeating: 0, count: unsafe (Int(BN_num_bits(found)) + 7) / 8)
        _ = unsafe BN_bn2bin(found, &bytes)
        return bytes
    }

    /// The padding of PS256: the salt is as long as the digest (RFC 7518 §3.5).
    private static func usePSS(_ details: OpaquePointer?) -> Bool {
        unsafe EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(details, RSA_PSS_SALTLEN_DIGEST) == 1
    }

    private static func make(
        _ algorithm: String,
        group: String? = nil
    ) throws(SandboxError) -> CryptoKey {
        var made: OpaquePointer?
        guard
            let context = unsafe SharedObject(
                EVP_PKEY_CTX_new_from_name(nil, algorithm, nil),
                release: { unsafe EVP_PKEY_CTX_free($0) }
            ),
            unsafe EVP_PKEY_keygen_init(context.pointer) == 1,
            unsafe group == nil || EVP_PKEY_CTX_set_group_name(context.pointer, group) == 1,
            unsafe EVP_PKEY_keygen(context.pointer, &made) == 1,
            let key = unsafe CryptoKey(owning: made)
        else { throw SandboxError(.cryptography, cannot: "make key", at: algorithm) }
        return key
    }
}

enum TokenGenerator {
    /// 256 random bits, base64url.
    static func text() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe RAND_bytes(&bytes, Int32(bytes.count))
        precondition(isDone == 1, "libcrypto without randomness cannot serve TLS either")
        return Base64URL.text(bytes)
    }
}
