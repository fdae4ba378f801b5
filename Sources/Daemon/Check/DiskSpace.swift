import Glibc

/// What is free on the file system of a directory.
struct DiskSpace: Sendable, Hashable {
    var freeBytes: UInt64
    var freeFiles: UInt64
    var isReadOnly = false

    init(freeBytes: UInt64, freeFiles: UInt64, isReadOnly: Bool = false) {
        self.freeBytes = freeBytes
        self.freeFiles = freeFiles
        self.isReadOnly = isReadOnly
    }

    /// `nil` when the directory cannot be asked.
    init?(of path: String) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        freeBytes = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        // Some file systems make their inodes as they go and count none.
        freeFiles = status.f_files == 0 ? .max : UInt64(status.f_favail)
        isReadOnly = status.f_flag & 1 != 0  // ST_RDONLY of statvfs(3)
    }
}
