import COpenSSL
import Encoding

/// A certificate for `localhost` and `127.0.0.1` that vouches for itself, and for no other.
struct ServerCertificate: Sendable {
    /// What a client must trust (`ca_file`).
    let certificatePEM: String
    let privateKeyPEM: String

    /// Long enough for any test, shorter than what TLS clients refuse (398 days).
    private static let lifetimeSeconds = 365 * 86_400
    /// `MBSTRING_ASC` of openssl/asn1.h, a macro that Swift does not see.
    private static let asciiString: Int32 = 0x1001

    init() throws(SandboxError) {
        let key = try CryptoKey.makeP256()
        // Without a key usage: one that lacks keyCertSign vouches for nothing (RFC 5280, 4.2.1.3).
        certificatePEM = try Self.selfSigned(
            "localhost",
            key: key,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"),
            ]
        )
        privateKeyPEM = try key.privatePEM()
    }

    static func selfSigned(
        _ subject: String,
        key: CryptoKey,
        extensions: [(identifier: Int32, value: String)] = []
    ) throws(SandboxError) -> String {
        let failure = SandboxError(.cryptography, cannot: "make certificate", at: subject)
        guard let made = unsafe X509_new() else { throw failure }
        defer { unsafe X509_free(made) }
        let serial = Int(UInt64.random(in: 1...UInt64(Int64.max)))
        // A little in the past: the client's clock may be behind.
        guard unsafe X509_set_version(made, 2) == 1,
            unsafe ASN1_INTEGER_set(X509_get_serialNumber(made), serial) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(made), -3600) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(made), lifetimeSeconds) != nil,
            unsafe X509_set_pubkey(made, key.pointer) == 1,
            unsafe X509_NAME_add_entry_by_txt(
                X509_get_subject_name(made),
                "CN",
                asciiString,
                Array(subject.utf8),
                -1,
                -1,
                0
            ) == 1,
            unsafe X509_set_issuer_name(made, X509_get_subject_name(made)) == 1
        else { throw failure }
        for (identifier, value) in extensions {
            guard let item = unsafe X509V3_EXT_conf_nid(nil, nil, identifier, value) else {
                throw failure
            }
            defer { unsafe X509_EXTENSION_free(item) }
            guard unsafe X509_add_ext(made, item, -1) == 1 else { throw failure }
        }
        guard unsafe X509_sign(made, key.pointer, EVP_sha256()) > 0 else { throw failure }
        return try unsafe MemoryBIO.text { bio in unsafe PEM_write_bio_X509(bio, made) }
    }
}

/// PEM texts in a memory BIO of libcrypto.
enum MemoryBIO {
    /// Runs a `PEM_read_bio_…` function over a text.
    static func read(_ text: String, _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { buffer in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(bio) }
            return unsafe read(bio)
        }
    }

    /// Runs a `PEM_write_bio_…` function, which answers 1 when it wrote, and returns the text.
    static func text(_ write: (OpaquePointer) -> Int32) throws(SandboxError) -> String {
        let failure = SandboxError(.cryptography, cannot: "write PEM", at: "BIO")
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw failure }
        defer { unsafe BIO_free(bio) }
        guard unsafe write(bio) == 1 else { throw failure }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe BIO_read(bio, &chunk, Int32(chunk.count))
            guard count > 0 else { break }
            text += chunk.prefix(Int(count))
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A certificate that a client proves itself with (learn.microsoft.com, "Certificate credentials").
struct ClientCertificate: Sendable {
    let key: CryptoKey
    /// SHA-256 of the DER, base64url: the `x5t#S256` of assertions.
    let thumbprint: String
    /// SHA-1 of the DER, base64url: the `x5t` of older assertions.
    let oldThumbprint: String

    init(pem text: String) throws(SandboxError) {
        let failure = SandboxError(.unsuitableKey, cannot: "read certificate", at: "PEM")
        let found = unsafe MemoryBIO.read(text) { bio in
            unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let certificate = unsafe found else { throw failure }
        defer { unsafe X509_free(certificate) }
        var digest = [UInt8](repeating: 0, count: 32)
        var oldDigest = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        guard unsafe X509_digest(certificate, EVP_sha256(), &digest, &count) == 1,
            unsafe X509_digest(certificate, EVP_sha1(), &oldDigest, &count) == 1,
            let key = unsafe CryptoKey(owning: X509_get_pubkey(certificate))
        else { throw failure }
        self.key = key
        thumbprint = Base64URL.text(digest)
        oldThumbprint = Base64URL.text(oldDigest)
    }
}
