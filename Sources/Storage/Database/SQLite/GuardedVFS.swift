import CSQLiteGuard
import GRDB
import GRDBSQLite

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
