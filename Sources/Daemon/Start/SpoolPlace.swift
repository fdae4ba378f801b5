import Glibc
import Storage

/// Where the spool is, and that it is there.
enum SpoolPlace {
    /// The group of applications (sysusers.d); without it the spool stays ours alone.
    static let groupName = "expunged-submit"

    /// Makes directory and file when they are missing.
    ///
    /// - Parameter stateDirectory: Absolute.
    /// - Returns: The path of the file.
    /// - Throws: ``DaemonError`` of kind `spool`, or ``Storage/StorageError``.
    static func prepare(stateDirectory: String) throws -> String {
        let directory = stateDirectory + "/spool"
        let group = groupID()
        if unsafe mkdir(directory, 0o700) == 0 {
            if let group { _ = unsafe chown(directory, uid_t.max, group) }
            guard unsafe chmod(directory, group == nil ? 0o700 : 0o2770) == 0 else {
                throw DaemonError(
                    .spool,
                    ["cannot set the mode of '\(directory)' (errno \(errno))"]
                )
            }
        } else if errno != EEXIST {
            throw DaemonError(
                .spool,
                ["cannot make the spool directory '\(directory)' (errno \(errno))"]
            )
        }
        let path = directory + "/queue.db"
        _ = try SpoolFile.create(path: path, group: group)
        return path
    }

    private static func groupID() -> gid_t? {
        guard let entry = unsafe getgrnam(groupName) else { return nil }
        return unsafe entry.pointee.gr_gid
    }
}
