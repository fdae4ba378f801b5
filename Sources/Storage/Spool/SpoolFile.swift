import CSQLiteGuard
import Encoding
package import Engine
import FoundationEssentials
import GRDB
package import Glibc
import Lifecycle

/// Makes the spool's file, before any application can.
package enum SpoolFile {
    /// Makes a spool where there is none: the public schema, a random id and mode 0660, whatever
    /// the umask.
    ///
    /// The file is made under another name and linked to its own once it is on disk: half a spool
    /// is never visible, and an existing file is never replaced. Nor is it read: it may be
    /// anything, and locked. ``SpoolService`` reads it and reports on it. Without `group`, the file
    /// has the group that the directory gives (set-group-id).
    ///
    /// - Throws: ``StorageError``: `unopenable`, `diskFull`.
    package static func makeIfMissing(
        path: String,
        group: gid_t? = nil
    ) throws(StorageError) {
        guard let path = WALFile.realPath(path) else {
            throw failure("find the directory", path)
        }
        removeDrafts(of: path)
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            do {
                try settleMode(path, group)
            } catch {
                // Not ours, or no file: reading shows whether it can be used.
            }
        } else if errno == ENOENT {
            try make(path, group)
        } else {
            throw failure("examine the spool", path)
        }
    }

    /// Why a service could not use the spool at `path`.
    ///
    /// `nil` also while it is locked, as by every commit of an application, and in WAL mode, from
    /// which the service switches it back.
    package static func examine(path: String) -> SpoolFailure? {
        guard let path = WALFile.realPath(path) else { return .missing }
        let refusals = unsafe csqliteguard_refusals(path)
        do {
            let queue = try SpoolConnection.open(path)
            try queue.writeWithoutTransaction { database in
                try SpoolDatabase.run(database, .zero) { database in
                    try database.run("BEGIN")
                    _ = try SpoolProbe(database, known: nil, host: nil)
                }
            }
            try queue.close()
            return nil
        } catch {
            let refusal = SpoolConnection.refusal(of: path, since: refusals)
            let answer = SpoolAnswer<Void>(error, path: path, refusal: refusal)
            guard case .failure(let failure) = answer, failure != .inWAL else { return nil }
            return failure
        }
    }

    private static func make(_ path: String, _ group: gid_t?) throws(StorageError) {
        let draft = path + draftMark + randomText(byteCount: 8)
        let descriptor = unsafe Glibc.open(
            draft,
            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
            0o600
        )
        guard descriptor >= 0 else { throw failure("make the spool", path) }
        defer {
            close(descriptor)
            unsafe unlink(draft)
        }
        do {
            try fill(draft, randomText(byteCount: 16))
        } catch {
            throw StorageError(error, "make the spool", at: WALFile.name(ofPath: path))
        }
        try settleMode(descriptor, path, group)
        guard fsync(descriptor) == 0 else { throw failure("sync", path) }
        guard unsafe link(draft, path) == 0 else {
            // Another process was faster.
            if errno == EEXIST { return }
            throw failure("name the spool", path)
        }
        try syncDirectory(of: path)
    }

    private static let draftMark = ".new-"

    /// Removes what a killed process left: also the second name of a complete spool.
    private static func removeDrafts(of path: String) {
        let name = WALFile.name(ofPath: path)
        let directory = String(path.dropLast(name.utf8.count))
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            // Making the spool says what is wrong with its directory.
            return
        }
        for draft in names where draft.hasPrefix(name + draftMark) {
            var status = stat()
            guard unsafe lstat(directory + draft, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
            else { continue }
            unsafe unlink(directory + draft)
        }
    }

    private static func fill(_ path: String, _ id: String) throws {
        let queue = try SpoolConnection.open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = 4096;
                    PRAGMA encoding = 'UTF-8';
                    PRAGMA auto_vacuum = NONE;
                    PRAGMA journal_mode = DELETE;
                    BEGIN IMMEDIATE;
                    \(SpoolSchema.meta);
                    \(SpoolSchema.requests);
                    \(SpoolSchema.credentials);
                    PRAGMA user_version = \(SpoolSchema.version);
                    """
            )
            try database.run("INSERT INTO spool_meta (spool_id) VALUES (?)", [.text(id)])
            try database.execute(sql: "COMMIT")
        }
        try queue.close()
    }

    private static func settleMode(_ path: String, _ group: gid_t?) throws(StorageError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the spool", path) }
        defer { close(descriptor) }
        try settleMode(descriptor, path, group)
    }

    /// Only on a file of ours with one name: the directory belongs to others, too.
    private static func settleMode(
        _ descriptor: Int32,
        _ path: String,
        _ group: gid_t?
    ) throws(StorageError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_nlink == 1
        else { throw failure("protect the spool", path, "it has a second name") }
        if let group, status.st_gid != group, fchown(descriptor, uid_t.max, group) != 0 {
            throw failure("give the spool to its group", path)
        }
        guard status.st_mode & 0o7777 != 0o660 || group.map({ $0 != status.st_gid }) ?? false else {
            return
        }
        guard fchmod(descriptor, 0o660) == 0 else {
            throw failure("protect the spool", path)
        }
    }

    private static func syncDirectory(of path: String) throws(StorageError) {
        let directory = String(path.dropLast(WALFile.name(ofPath: path).utf8.count))
        let descriptor = unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the directory", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw failure("sync the directory", path)
        }
    }

    private static func randomText(byteCount: Int) -> String {
        Hexadecimal.text((0..<byteCount).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// By default the last system call failed.
    private static func failure(
        _ action: String,
        _ path: String,
        _ cause: String = "\(ErrorNumber.current)"
    ) -> StorageError {
        StorageError(.unopenable, action, at: WALFile.name(ofPath: path), cause: cause)
    }
}
