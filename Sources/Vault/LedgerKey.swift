internal import COpenSSL
internal import Cryptography
package import Engine
package import Lifecycle

/// The Ed25519 key that signs the ledger's checkpoints (RFC 8032).
///
/// It is a credential of the name ``credentialName``, or else `ledger.key` of the state directory,
/// made once: 32 random bytes. A credential keeps it apart from what it signs.
package struct LedgerKey: Sendable {
    package static let fileName = "ledger.key"
    /// 32 random bytes in base64, like a vault key.
    package static let credentialName = "ledger-key"
    private static let byteCount = KeyFile.byteCount
    private static let signatureByteCount = 64
    private static let action = "load ledger key"

    private let key: SharedObject
    /// 32 bytes (RFC 8032 §5.1.5).
    package let publicKey: [UInt8]

    /// Reads the text of the credential; throws unless it is 32 random bytes in base64.
    package init(text: Secret) throws(VaultSetupError) {
        guard let seed = text.withBytes({ KeyText.decode($0) }), seed.count == Self.byteCount else {
            let cause = "expected 32 random bytes in base64"
            throw VaultSetupError(.malformed, Self.action, at: Self.credentialName, cause)
        }
        try self.init(seed: seed, place: Self.credentialName)
    }

    /// Reads the key file of the state directory; makes it if there is none yet.
    ///
    /// It may not be made when checkpoints were signed with a key before.
    ///
    /// - Throws: ``VaultSetupError`` when the file is not ours and private, is missing although it
    ///   may not be made, or cannot be written durably.
    package init(
        directory: String,
        mayCreate: Bool,
        entropy: any Entropy = KernelEntropy()
    ) throws(VaultSetupError) {
        let files = try KeyFile(directory: directory, action: Self.action)
        var read = try files.readOrMake(
            Self.fileName,
            mayCreate: mayCreate,
            entropy: entropy,
            missing: "the ledger was signed with a key; restore \(Self.fileName) from a backup"
        )
        defer { read.bytes.wipe() }
        try self.init(seed: Secret(read.bytes), place: "\(directory)/\(Self.fileName)")
    }

    private init(seed: Secret, place: String) throws(VaultSetupError) {
        var publicKey = [UInt8](repeating: 0, count: Self.byteCount)
        var count = publicKey.count
        let key = seed.withBytes { bytes in
            unsafe SharedObject(
                EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count),
                release: { unsafe EVP_PKEY_free($0) }
            )
        }
        guard let key, unsafe EVP_PKEY_get_raw_public_key(key.pointer, &publicKey, &count) == 1,
            count == Self.byteCount
        else {
            ERR_clear_error()
            let cause = "libcrypto cannot make an Ed25519 key"
            throw VaultSetupError(.library, Self.action, at: place, cause)
        }
        (self.key, self.publicKey) = (key, publicKey)
    }

    /// Makes 64 bytes (EVP_SIGNATURE-ED25519(7)); throws `library` when libcrypto fails.
    package func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        guard let context = SharedObject.digestContext(),
            unsafe EVP_DigestSignInit(context.pointer, nil, nil, nil, key.pointer) == 1,
            let signature = context.digestSign(message, byteCountMax: Self.signatureByteCount),
            signature.count == Self.signatureByteCount
        else {
            ERR_clear_error()
            throw VaultError(kind: .library)
        }
        return signature
    }
}
