import COpenSSL
import Encoding

/// A certificate that a client proves itself with (Microsoft, "Certificate credentials").
package struct ClientCertificate: Sendable {
    let key: CryptoKey
    /// SHA-256 of the DER, base64url: the `x5t#S256` of assertions.
    package let thumbprint: String
    /// SHA-1 of the DER, base64url: the `x5t` of older assertions.
    package let oldThumbprint: String

    /// - Throws: ``SandboxError`` when the text is no certificate in PEM form.
    package init(pem text: String) throws(SandboxError) {
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

    /// Makes an RSA key (PKCS#8) and a certificate for it, for tests and demonstrations.
    ///
    /// - Throws: ``SandboxError`` when libcrypto fails.
    package static func make() throws(SandboxError) -> (keyPEM: String, certificatePEM: String) {
        let key = try CryptoKey.makeRSA()
        return (try key.privatePEM(), try ServerCertificate.selfSigned("sandbox client", key: key))
    }
}
