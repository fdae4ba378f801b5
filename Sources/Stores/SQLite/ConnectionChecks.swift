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

    /// Reads by a plan, in one transaction that ends with a rollback; a statement that runs beyond
    /// the deadline is interrupted.
    ///
    /// It throws what the body throws, and ``TargetError`` when the database cannot be read, the
    /// file was replaced or its schema has changed.
    static func reading<Answer>(
        _ plan: SQLitePurgePlan,
        _ db: Database,
        _ target: TargetName,
        deadline: Duration = TargetLimits.statementDeadline,
        _ body: () throws -> Answer
    ) throws -> Answer {
        unsafe csqliteguard_deadline_begin(db.sqliteConnection, deadline.milliseconds)
        defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
        try execute("BEGIN", db, target)
        defer { _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil) }
        try requireSamePlan(plan, db, target)
        let answer = try body()
        try requireSameFile(db, target)
        return answer
    }

    /// The open file is the one at the path, and the plan was made for its present schema.
    static func requireSamePlan(
        _ plan: SQLitePurgePlan,
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
