internal import Engine
internal import Lifecycle

/// The key of all keyed hashes: 32 random bytes in `hash.key` of the state directory, made once.
///
/// It is never rotated, and the state database is of no use without it: tombstones and idempotency
/// keys must be found years later. Back both up together, or neither.
package struct FileHashKey: Sendable {
    package static let fileName = "hash.key"
    package static let byteCount = 32

    /// A crash between the steps leaves this name behind; the next start removes it.
    private static let temporaryName = ".hash.key.new"
    private static let action = "load hash key"

    package let hasher: HMACHasher
    /// True when this call made the key: no hash can be stored anywhere yet.
    package let isNew: Bool

    /// Reads the key; makes it if there is none yet.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - mayCreate: False when the state database already holds a fingerprint: a new key would
    ///     make every stored hash unfindable.
    ///   - entropy: Makes the key.
    /// - Throws: ``VaultSetupError`` when the file is not a regular file of ours with mode 0600 and
    ///   32 bytes, is missing although it may not be made, or cannot be written durably.
    package init(
        directory: String,
        mayCreate: Bool = true,
        entropy: any Entropy = KernelEntropy()
    ) throws(VaultSetupError) {
        let files = try KeyFile(directory: directory, action: Self.action)
        try files.remove(Self.temporaryName)
        var bytes = try files.read(Self.fileName, byteCount: Self.byteCount)
        defer { bytes?.wipe() }
        var isNew = false
        if bytes == nil {
            guard mayCreate else { throw Self.missing(in: directory) }
            isNew = try Self.create(in: files, directory, entropy)
            bytes = try files.read(Self.fileName, byteCount: Self.byteCount)
        }
        guard let key = bytes else { throw Self.missing(in: directory) }
        try files.syncDirectory()
        self.isNew = isNew
        do throws(VaultError) {
            hasher = try HMACHasher(key: Secret(key))
        } catch {
            throw Self.error(.library, directory, "libcrypto cannot make an HMAC-SHA-256")
        }
    }

    /// - Returns: False when another process made the key in the meantime.
    private static func create(
        in files: borrowing KeyFile,
        _ directory: String,
        _ entropy: any Entropy
    ) throws(VaultSetupError) -> Bool {
        var key: [UInt8]
        do throws(VaultError) {
            key = try entropy.bytes(byteCount)
        } catch {
            throw Self.error(.library, directory, "there is no entropy")
        }
        defer { key.wipe() }
        try files.create(temporaryName, key)
        return try files.rename(temporaryName, to: fileName)
    }

    private static func missing(in directory: String) -> VaultSetupError {
        error(
            .missing,
            directory,
            "the state database was written with a key; restore \(fileName) from the same backup"
        )
    }

    private static func error(
        _ kind: VaultSetupError.Kind,
        _ directory: String,
        _ cause: String
    ) -> VaultSetupError {
        VaultSetupError(
            kind: kind,
            action: action,
            place: "\(directory)/\(fileName)",
            cause: cause
        )
    }
}
