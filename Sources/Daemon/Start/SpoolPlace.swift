import Encoding
import Glibc
import Storage

struct SpoolPlace: Sendable {
    /// The group of applications (sysusers.d); without it the spool stays ours alone.
    static let groupName = "expunged-submit"

    private let directory: String
    var path: String { directory + "/queue.db" }

    init(stateDirectory: String) { directory = stateDirectory + "/spool" }

    /// Makes directory and file if they are missing; ``Storage/SpoolService`` checks others.
    func makeIfMissing() throws(StorageError) {
        let group = Self.groupID()
        try makeDirectory(group)
        try SpoolFile.makeIfMissing(path: path, group: group)
    }

    private func makeDirectory(_ group: gid_t?) throws(StorageError) {
        guard unsafe mkdir(directory, 0o700) == 0 else {
            guard errno == EEXIST else { throw failure("make") }
            return
        }
        if let group { _ = unsafe chown(directory, uid_t.max, group) }
        guard unsafe chmod(directory, group == nil ? 0o700 : 0o2770) == 0 else {
            throw failure("set the mode of")
        }
    }

    private func failure(_ action: String) -> StorageError {
        let attempt = "\(action) the spool directory"
        return StorageError(.unopenable, attempt, at: directory, cause: "\(ErrorNumber.current)")
    }

    private static func groupID() -> gid_t? {
        guard let entry = unsafe getgrnam(groupName) else { return nil }
        return unsafe entry.pointee.gr_gid
    }
}
