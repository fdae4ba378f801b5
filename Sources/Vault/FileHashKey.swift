internal import Engine
internal import Lifecycle

/// The key of all keyed hashes: 32 random bytes in `hash.key` of the state directory, made once.
///
/// It is never rotated, and the state database is of no use without it: tombstones and idempotency
/// keys must be found years later. Back both up together, or neither.
package struct FileHashKey: Sendable {
    package static let fileName = "hash.key"
    package static let byteCount = KeyFile.byteCount

    package let hasher: HMACHasher
    /// True when this call made the key: no hash can be stored anywhere yet.
    package let isNew: Bool

    /// Reads the key of the state directory; makes it if there is none yet.
    ///
    /// It may not be made when the state database already holds a fingerprint: a new key would make
    /// every stored hash unfindable.
    ///
    /// - Throws: ``VaultSetupError`` when the file is not a regular file of ours with mode 0600 and
    ///   32 bytes, is missing although it may not be made, or cannot be written durably.
    package init(
        directory: String,
        mayCreate: Bool = true,
        entropy: any Entropy = KernelEntropy()
    ) throws(VaultSetupError) {
        let files = try KeyFile(directory: directory, action: "load hash key")
        var read = try files.readOrMake(
            Self.fileName,
            mayCreate: mayCreate,
            entropy: entropy,
            missing: "the state database was written with a key; restore \(Self.fileName) from the"
                + " same backup"
        )
        defer { read.bytes.wipe() }
        isNew = read.isNew
        do throws(VaultError) {
            hasher = try HMACHasher(key: Secret(read.bytes))
        } catch {
            throw files.error(.library, Self.fileName, "libcrypto cannot make an HMAC-SHA-256")
        }
    }
}
