import COpenSSL
import Encoding

/// A certificate that a client proves itself with (Microsoft, "Certificate credentials").
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
