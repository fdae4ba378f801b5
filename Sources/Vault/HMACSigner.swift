package import Engine
package import Lifecycle

/// Signs with a shared secret, such as a client secret: HS256 (RFC 7518 §3.2).
package struct HMACSigner: MessageSigner {
    private let mac: HMACSHA256

    package var algorithm: SigningAlgorithm { .hs256 }

    /// Keys the code with a secret of any length; throws `library` when libcrypto fails.
    package init(key: Secret) throws(VaultError) { mac = try HMACSHA256(key: key) }

    /// Authenticates `message`.
    ///
    /// - Returns: 32 bytes.
    /// - Throws: ``Engine/VaultError`` of kind `library` when libcrypto fails.
    package func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        try mac.code(for: message)
    }
}
