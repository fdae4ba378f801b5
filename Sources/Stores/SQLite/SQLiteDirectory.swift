internal import CSQLiteGuard
internal import Glibc

/// What SQLite needs around the file, and reports as a bare error code when it is missing.
enum SQLiteDirectory {
    static func inspect(path: String) -> (problems: [String], advice: [String]) {
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else {
            return (["path '\(path)' is not absolute"], [])
        }
        var problems: [String] = []
        var advice: [String] = []
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        var status = stat()
        if unsafe lstat(path, &status) != 0 {
            problems.append("'\(path)' \(reason())")
        } else if status.st_mode & S_IFMT != S_IFREG {
            problems.append("'\(path)' is not a regular file")
        } else if unsafe access(path, R_OK | W_OK) != 0 {
            problems.append("'\(path)' \(reason())")
        }
        if unsafe access(directory, R_OK | W_OK | X_OK) != 0 {
            problems.append("directory '\(directory)', where SQLite keeps its journal, \(reason())")
        } else if unsafe stat(directory, &status) == 0, status.st_uid != geteuid(),
            status.st_mode & S_ISGID == 0
        {
            advice.append(
                "directory '\(directory)' is not set-group-id: the application may not be able to"
                    + " open -wal and -shm files that expunged makes"
            )
        }
        return (problems, advice)
    }

    private static func reason() -> String {
        switch errno {
        case ENOENT: "does not exist"
        case EROFS: "is read-only here (is it in ReadWritePaths= of the unit?)"
        case EACCES, EPERM: "may not be read and written by this user"
        default: "cannot be used (errno \(errno))"
        }
    }
}
