import Encoding
internal import Engine
internal import Glibc
internal import Lifecycle

/// One open directory, in which key files are made and read through file descriptors only.
struct KeyFile: ~Copyable {
    /// The size of every key that is made here.
    static let byteCount = 32

    private let directory: Int32
    /// For errors: what is being done, and the directory's path.
    private let action: String
    private let place: String

    /// Opens the directory at `place`; errors say `action`, such as `load hash key`.
    init(directory place: String, action: String) throws(VaultSetupError) {
        let descriptor = unsafe Glibc.open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.systemError(action, place) }
        directory = descriptor
        self.action = action
        self.place = place
    }

    deinit { _ = Glibc.close(directory) }

    /// Reads a key, and makes it first if there is none and it may be made.
    ///
    /// - Returns: The key, which the caller wipes, and whether this call made it; an error says
    ///   `cause` when there is none.
    func readOrMake(
        _ name: String,
        mayCreate: Bool,
        entropy: any Entropy,
        missing cause: String
    ) throws(VaultSetupError) -> (bytes: [UInt8], isNew: Bool) {
        // A crash between the steps leaves this name behind.
        let temporary = ".\(name).new"
        try remove(temporary)
        var isNew = false
        var bytes = try read(name, byteCount: Self.byteCount)
        if bytes == nil, mayCreate {
            var key: [UInt8]
            do throws(VaultError) {
                key = try entropy.bytes(Self.byteCount)
            } catch {
                throw self.error(.library, name, "there is no entropy")
            }
            defer { key.wipe() }
            try create(temporary, key)
            // Another process may have made it in the meantime.
            isNew = try rename(temporary, to: name)
            bytes = try read(name, byteCount: Self.byteCount)
        }
        guard let bytes else { throw error(.missing, name, cause) }
        try syncDirectory()
        return (bytes, isNew)
    }

    /// Reads a file that must be ours: regular, one name, our uid, mode 0600, `byteCount` bytes.
    ///
    /// - Returns: `nil` when there is no such file; the caller wipes the bytes.
    func read(_ name: String, byteCount: Int) throws(VaultSetupError) -> [UInt8]? {
        // O_NONBLOCK: a planted FIFO must not hang the start; the type is checked below.
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let file = unsafe Glibc.openat(directory, name, flags)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw systemError(name)
        }
        defer { _ = Glibc.close(file) }
        try checkOwnership(of: file, name)
        var bytes: [UInt8] = []
        defer { bytes.wipe() }
        guard FileBytes.read(file, into: &bytes, atMost: byteCount + 1) else {
            throw systemError(name)
        }
        guard bytes.count == byteCount else {
            throw error(.unsafeFile, name, "expected \(byteCount) bytes, not \(bytes.count)")
        }
        return Array(bytes.prefix(byteCount))
    }

    /// Makes a file that must not exist, mode 0600; its bytes and its name are durable on return.
    func create(_ name: String, _ bytes: [UInt8]) throws(VaultSetupError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe Glibc.openat(directory, name, flags, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw systemError(name) }
            throw error(.exists, name, "a key file is never overwritten")
        }
        defer { _ = Glibc.close(file) }
        do throws(VaultSetupError) {
            // fchmod: the umask may have taken bits away, and a reader checks for exactly 0600.
            guard fchmod(file, 0o600) == 0 else { throw systemError(name) }
            guard FileBytes.write(bytes, to: file) else { throw systemError(name) }
            guard fsync(file) == 0 else { throw systemError(name) }
            try syncDirectory()
        } catch {
            // Half a key must not stay behind under this name; the first error is the one to tell.
            _ = unsafe unlinkat(directory, name, 0)
            throw error
        }
    }

    /// Gives a file its final name, unless that name is taken; durable on return.
    ///
    /// A link and an unlink, because rename(2) would replace; after a crash between the two the
    /// file has both names until the first is removed.
    ///
    /// - Returns: False when the name is taken.
    func rename(_ name: String, to final: String) throws(VaultSetupError) -> Bool {
        let result = unsafe linkat(directory, name, directory, final, 0)
        guard result == 0 || errno == EEXIST else { throw systemError(final) }
        try syncDirectory()
        try remove(name)
        return result == 0
    }

    func remove(_ name: String) throws(VaultSetupError) {
        guard unsafe unlinkat(directory, name, 0) == 0 || errno == ENOENT else {
            throw systemError(name)
        }
    }

    /// Makes names durable, also those that a crashed predecessor left in memory only (fsync(2)).
    func syncDirectory() throws(VaultSetupError) {
        guard fsync(directory) == 0 else { throw Self.systemError(action, place) }
    }
}

extension KeyFile {
    private func checkOwnership(of file: Int32, _ name: String) throws(VaultSetupError) {
        var facts = stat()
        guard unsafe fstat(file, &facts) == 0 else { throw systemError(name) }
        guard facts.st_mode & S_IFMT == S_IFREG, facts.st_nlink == 1 else {
            throw error(.unsafeFile, name, "expected a regular file with one name")
        }
        guard facts.st_uid == geteuid() else {
            throw error(.unsafeFile, name, "expected owner \(geteuid()), not \(facts.st_uid)")
        }
        guard facts.st_mode & 0o7777 == 0o600 else {
            let mode = String(facts.st_mode & 0o7777, radix: 8)
            throw error(.unsafeFile, name, "expected mode 0600, not 0\(mode)")
        }
    }

    private func path(_ name: String) -> String { "\(place)/\(name)" }

    func error(
        _ kind: VaultSetupError.Kind,
        _ name: String,
        _ cause: String
    ) -> VaultSetupError {
        VaultSetupError(kind, action, at: path(name), cause)
    }

    private func systemError(_ name: String) -> VaultSetupError {
        Self.systemError(action, path(name))
    }

    /// Reads `errno`, so it must come right after the call that failed.
    private static func systemError(_ action: String, _ place: String) -> VaultSetupError {
        VaultSetupError(.system, action, at: place, "\(ErrorNumber.current)")
    }
}

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
