/// How a ``MessageSigner`` signs; the raw value is the JOSE `alg` (RFC 7518 §3.1).
package enum SigningAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA with P-256 and SHA-256; a signature is 64 bytes, r then s (RFC 7518 §3.4).
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes (RFC 7518 §3.5).
    case ps256 = "PS256"
    /// HMAC with SHA-256 under a secret that both sides have (RFC 7518 §3.2).
    case hs256 = "HS256"
}

/// Signs with a key that the caller never sees; the key may live outside the process.
package protocol MessageSigner: Sendable {
    /// What the key is for; goes into the JOSE header as it is.
    var algorithm: SigningAlgorithm { get }

    /// Signs `message` and returns the signature in its JOSE form, not base64url encoded.
    ///
    /// - Throws: ``VaultError`` of kind `library` when libcrypto or the key's token fails.
    func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8]
}
