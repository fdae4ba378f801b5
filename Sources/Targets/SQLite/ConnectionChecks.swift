internal import CSQLiteGuard
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// What is asked of a connection before and after each transaction.
enum ConnectionChecks {
    /// Runs one statement without parameters.
    static func execute(_ sql: String, _ db: Database, _ target: TargetName) throws(TargetError) {
        guard unsafe sqlite3_exec(db.sqliteConnection, sql, nil, nil, nil) == SQLITE_OK else {
            let code = unsafe sqlite3_extended_errcode(db.sqliteConnection)
            throw TargetError(resultCode: code, target: target)
        }
    }

    /// The open file is still the one at the path: rows deleted from a file that was replaced by
    /// another (a restored backup) are not deleted.
    static func requireSameFile(_ db: Database, _ target: TargetName) throws(TargetError) {
        guard unsafe csqliteguard_has_moved(db.sqliteConnection) == 0 else {
            throw TargetError(kind: .moved, target: target)
        }
    }

    /// The open file is the one at the path, and the plan was made for its present schema.
    static func requireSamePlan(
        _ plan: PurgePlan,
        _ db: Database,
        _ target: TargetName
    ) throws(TargetError) {
        try requireSameFile(db, target)
        let version: Int64
        do {
            version = try LiveSchema.version(db)
        } catch {
            throw TargetError(error, target: target)
        }
        guard version == plan.schemaVersion else {
            throw TargetError(kind: .schemaChanged, target: target)
        }
    }
}
