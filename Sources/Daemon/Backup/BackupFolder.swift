import FoundationEssentials
import Glibc

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

    /// Makes the names in a directory durable.
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
