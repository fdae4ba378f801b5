internal import COpenSSL
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
    private static let byteCount = 32
    private static let signatureByteCount = 64
    private static let temporaryName = ".ledger.key.new"
    private static let action = "load ledger key"

    private let key: SharedObject
    /// 32 bytes (RFC 8032 §5.1.5).
    package let publicKey: [UInt8]

    /// Reads the text of the credential.
    ///
    /// - Parameter text: 32 random bytes in base64; secret.
    /// - Throws: ``VaultSetupError`` unless it is that.
    package init(text: Secret) throws(VaultSetupError) {
        guard let seed = text.withBytes({ KeyText.decode($0) }), seed.count == Self.byteCount else {
            throw Self.error(.malformed, Self.credentialName, "expected 32 random bytes in base64")
        }
        try self.init(seed: seed, place: Self.credentialName)
    }

    /// Reads the key file; makes it if there is none yet.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - mayCreate: False when checkpoints were signed with a key before.
    ///   - entropy: Makes the key.
    /// - Throws: ``VaultSetupError`` when the file is not ours and private, is missing although it
    ///   may not be made, or cannot be written durably.
    package init(
        directory: String,
        mayCreate: Bool,
        entropy: any Entropy = KernelEntropy()
    ) throws(VaultSetupError) {
        let place = "\(directory)/\(Self.fileName)"
        let files = try KeyFile(directory: directory, action: Self.action)
        try files.remove(Self.temporaryName)
        var bytes = try files.read(Self.fileName, byteCount: Self.byteCount)
        defer { bytes?.wipe() }
        if bytes == nil, mayCreate {
            try Self.create(in: files, place, entropy)
            bytes = try files.read(Self.fileName, byteCount: Self.byteCount)
        }
        guard let seed = bytes else {
            throw Self.error(
                .missing,
                place,
                "the ledger was signed with a key; restore \(Self.fileName) from a backup"
            )
        }
        try files.syncDirectory()
        try self.init(seed: Secret(seed), place: place)
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
            throw Self.error(.library, place, "libcrypto cannot make an Ed25519 key")
        }
        self.key = key
        self.publicKey = publicKey
    }

    /// Signs a message (EVP_SIGNATURE-ED25519(7)).
    ///
    /// - Returns: 64 bytes.
    /// - Throws: ``Engine/VaultError`` of kind `library` when libcrypto fails.
    package func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Self.signatureByteCount)
        var count = signature.count
        guard
            let context = unsafe SharedObject(
                EVP_MD_CTX_new(),
                release: { unsafe EVP_MD_CTX_free($0) }
            ),
            unsafe EVP_DigestSignInit(context.pointer, nil, nil, nil, key.pointer) == 1,
            unsafe EVP_DigestSign(
                context.pointer,
                &signature,
                &count,
                message,
                message.count
            ) == 1, count == Self.signatureByteCount
        else {
            ERR_clear_error()
            throw VaultError(kind: .library)
        }
        return signature
    }

    private static func create(
        in files: borrowing KeyFile,
        _ place: String,
        _ entropy: any Entropy
    ) throws(VaultSetupError) {
        var seed: [UInt8]
        do throws(VaultError) {
            seed = try entropy.bytes(byteCount)
        } catch {
            throw Self.error(.library, place, "there is no entropy")
        }
        defer { seed.wipe() }
        try files.create(temporaryName, seed)
        _ = try files.rename(temporaryName, to: fileName)
    }

    private static func error(
        _ kind: VaultSetupError.Kind,
        _ place: String,
        _ cause: String
    ) -> VaultSetupError {
        VaultSetupError(kind: kind, action: action, place: place, cause: cause)
    }
}
