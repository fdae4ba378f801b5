import Encoding
import FoundationEssentials
import Glibc
import Ledger

/// Reads or writes one file from its beginning to its end.
final class BackupFile {
    /// Bytes at once.
    static let pieceByteCount = 1 << 20
    /// Written bytes between two syncs, and between two rests.
    private static let syncedByteCount = 8 << 20

    let path: String
    private let descriptor: Int32
    private var unsyncedByteCount = 0

    /// Throws for anything but a regular file.
    init(reading path: String) throws(DaemonError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure("read", path) }
        guard try status().st_mode & S_IFMT == S_IFREG else {
            throw DaemonError(.state, "cannot read '\(path)': it is not a regular file")
        }
    }

    init(making path: String) throws(DaemonError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("create", path) }
    }

    deinit { close(descriptor) }

    func status() throws(DaemonError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure("read", path) }
        return status
    }

    /// The next bytes, fewer at the end of the file.
    func read(_ count: Int) throws(DaemonError) -> [UInt8] {
        var bytes: [UInt8] = []
        guard FileBytes.read(descriptor, into: &bytes, atMost: count) else {
            throw Self.failure("read", path)
        }
        return bytes
    }

    /// Hands on the next `byteCount` bytes in pieces; returns how many there were.
    func readPieces(
        _ byteCount: Int,
        _ body: ([UInt8]) throws(DaemonError) -> Void
    ) throws(DaemonError) -> Int {
        var rest = byteCount
        while rest > 0 {
            let piece = try read(min(rest, Self.pieceByteCount))
            guard !piece.isEmpty else { break }
            try body(piece)
            rest -= piece.count
        }
        return byteCount - rest
    }

    /// Writes, and rests as long as the disk took: a running service needs the disk, too.
    func write(_ bytes: [UInt8]) throws(DaemonError) {
        guard FileBytes.write(bytes, to: descriptor) else { throw Self.failure("write", path) }
        unsyncedByteCount += bytes.count
        guard unsyncedByteCount >= Self.syncedByteCount else { return }
        let start = ContinuousClock.now
        try sync()
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        _ = poll(nil, 0, Int32(min(milliseconds, 1000)))
    }

    func sync() throws(DaemonError) {
        guard fsync(descriptor) == 0 else { throw Self.failure("sync", path) }
        unsyncedByteCount = 0
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Reads `errno`, so it must come right after the call that failed.
    static func failure(_ verb: String, _ path: String) -> DaemonError {
        let isRefused = errno == EACCES || errno == EPERM
        let cause = ErrorNumber.current
        let hint = isRefused ? ["hint: run it as root, or as the user 'expunged'"] : []
        return DaemonError(.state, problems: ["cannot \(verb) '\(path)': \(cause)"] + hint)
    }
}

/// A private folder that goes with its owner; one that a killed process left goes with the next.
final class BackupFolder {
    private static let prefix = ".expunged-copy-"

    let path: String
    private let descriptor: Int32

    /// Makes it in a directory, and removes what killed processes left there.
    init(in directory: String) throws(DaemonError) {
        Self.removeAbandoned(in: directory)
        var template = Array("\(directory)/\(Self.prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw BackupFile.failure("create a folder in", directory)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw BackupFile.failure("lock", path)
        }
    }

    deinit {
        Self.remove(path)
        close(descriptor)
    }

    static func sync(_ directory: String) throws(DaemonError) {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupFile.failure("open", directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw BackupFile.failure("sync", directory) }
    }

    static func status(_ path: String) throws(DaemonError) -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw BackupFile.failure("read", path) }
        return status
    }

    private static func removeAbandoned(in directory: String) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            // Making the folder there says what is wrong.
            return
        }
        for path in names.filter({ $0.hasPrefix(prefix) }).map({ "\(directory)/\($0)" }) {
            let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(path) }
        }
    }

    private static func remove(_ path: String) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            // The next backup or restore in this directory tries again.
        }
    }
}
