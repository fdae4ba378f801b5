import COpenSSL
import Encoding

/// One libcrypto key: the P-256 key of a client, of the sandbox's certificates, or an RSA key that
/// signs id tokens.
///
/// `@unchecked Sendable`: an `EVP_PKEY` is never changed after `init`, and libcrypto allows
/// concurrent signing and verifying with one key (openssl-threads(7)).
@safe final class CryptoKey: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// Makes a key for ES256 (RFC 7518 §3.4).
    static func makeP256() throws(SandboxError) -> CryptoKey {
        try unsafe generate("EC") { context in
            unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1
        }
    }

    /// Makes a key for RS256 (RFC 7518 §3.3, which asks for 2048 bits or more).
    static func makeRSA() throws(SandboxError) -> CryptoKey {
        try unsafe generate("RSA") { context in
            unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1
        }
    }

    /// Reads a PEM text, private (PKCS#8) or public.
    init(pem text: String) throws(SandboxError) {
        let found = unsafe MemoryBIO.read(text) { bio in
            // The callback keeps libcrypto from asking a terminal for a passphrase.
            text.contains("PRIVATE KEY")
                ? unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
                : unsafe PEM_read_bio_PUBKEY(bio, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let found = unsafe found else {
            throw SandboxError(.unsuitableKey, cannot: "read key", at: "PEM")
        }
        unsafe self.pointer = unsafe found
    }

    /// Reads a PEM text that must hold a P-256 key, as Apple's .p8 files do.
    convenience init(p256PEM text: String) throws(SandboxError) {
        try self.init(pem: text)
        guard isP256 else {
            throw SandboxError(.unsuitableKey, cannot: "use key", at: "PEM", cause: "not P-256")
        }
    }

    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        let isNamed = unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1
        let group = String(
            decoding: name.prefix(length).map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        return isNamed && group == "prime256v1"
    }

    var isRSA: Bool { unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 }

    /// The private half as PKCS#8 PEM, the form of Apple's .p8 files.
    func privatePEM() throws(SandboxError) -> String {
        try unsafe MemoryBIO.text { bio in
            unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil)
        }
    }

    /// The public half as SubjectPublicKeyInfo PEM.
    func publicPEM() throws(SandboxError) -> String {
        try unsafe MemoryBIO.text { bio in unsafe PEM_write_bio_PUBKEY(bio, pointer) }
    }

    /// Signs with SHA-256: PKCS#1 v1.5 or, for PS256, PSS with RSA, DER for P-256.
    func signature(over message: [UInt8], isPSS: Bool = false) throws(SandboxError) -> [UInt8] {
        let failure = SandboxError(.cryptography, cannot: "sign message", at: "EVP_DigestSign")
        guard let context = unsafe EVP_MD_CTX_new() else { throw failure }
        defer { unsafe EVP_MD_CTX_free(context) }
        var length = 0
        var details: OpaquePointer?
        guard unsafe EVP_DigestSignInit(context, &details, EVP_sha256(), nil, pointer) == 1,
            unsafe !isPSS || Self.usePSS(details),
            unsafe EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw failure }
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw failure }
        return Array(signature.prefix(length))
    }

    /// Whether `signature` (DER for P-256) is this key's SHA-256 signature over `message`.
    func verifies(_ signature: [UInt8], over message: [UInt8], isPSS: Bool = false) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        var details: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &details, EVP_sha256(), nil, pointer) == 1,
            unsafe !isPSS || Self.usePSS(details)
        else { return false }
        let verdict = unsafe EVP_DigestVerify(
            context,
            signature,
            signature.count,
            message,
            message.count
        )
        if verdict != 1 { ERR_clear_error() }
        return verdict == 1
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

    private static func generate(
        _ algorithm: String,
        prepare: (OpaquePointer) -> Bool
    ) throws(SandboxError) -> CryptoKey {
        let failure = SandboxError(.cryptography, cannot: "make key", at: algorithm)
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw failure
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe prepare(context),
            unsafe EVP_PKEY_keygen(context, &key) == 1, let made = unsafe key
        else { throw failure }
        return unsafe CryptoKey(owning: made)
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
