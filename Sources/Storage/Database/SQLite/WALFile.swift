import CSQLiteGuard
import GRDB
import GRDBSQLite
import Glibc

enum WALFile {
    /// Its size; 0 when there is none.
    ///
    /// With `journal_size_limit = 0` the size follows the last reset.
    static func byteCount(ofDatabase path: String) -> Int {
        var status = stat()
        guard unsafe stat(path + "-wal", &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    static func name(ofPath path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Resolves the directory's symbolic links; the last component is never followed.
    static func realPath(_ path: String) -> String? {
        let name = name(ofPath: path)
        guard !name.isEmpty else { return nil }
        let directory = path.contains("/") ? String(path.dropLast(name.count)) : "."
        guard let resolved = unsafe realpath(directory.isEmpty ? "/" : directory, nil) else {
            return nil
        }
        defer { unsafe free(resolved) }
        let real = unsafe String(cString: resolved)
        return real == "/" ? "/" + name : real + "/" + name
    }
}

/// The VFS through which every database of the process goes.
enum GuardedVFS {
    /// Makes it the process's default, also when called again.
    static func install() throws {
        try check(csqliteguard_install())
    }

    /// - Throws: `DatabaseError` for any code but `SQLITE_OK`.
    static func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

extension Database {
    /// Has this connection write zeros where a page has unused space.
    func wipeUnused() throws {
        try GuardedVFS.check(unsafe csqliteguard_wipe_unused(sqliteConnection))
    }
}
