import CSQLiteGuard
import GRDB
import GRDBSQLite

/// The VFS through which every database of the process goes.
enum GuardedVFS {
    /// Makes it the process's default; call it before a database is opened, as often as you like.
    static func install() throws {
        let code = csqliteguard_install()
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

extension Database {
    /// Has this connection write zeros where a page has unused space.
    func wipeUnused() throws {
        let code = unsafe csqliteguard_wipe_unused(sqliteConnection)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
