import CSQLiteGuard
import GRDB
import GRDBSQLite
import Lifecycle

/// The one connection of a store, inside one database access.
struct SQLiteReader: SQLConnection {
    typealias Dialect = SQLiteDialect

    let db: Database
    let store: StoreName
    private let counts = CountStatements()

    init(db: Database, store: StoreName) { (self.db, self.store) = (db, store) }

    func rows(_ sql: String, _ parameters: SQLParameters) throws(SQLError) -> [[BoundValue?]] {
        let query = try SQLiteQuery(sql, on: db, store: store)
        defer { query.forget() }
        try query.bind(parameters)
        return try query.rows()
    }

    func count(_ sql: String, _ parameters: SQLParameters) throws(SQLError) -> Int {
        let query = try counts.query(sql, on: db, store: store)
        defer { query.forget() }
        try query.bind(parameters)
        return Int(try query.integer())
    }

    /// Runs one statement without parameters.
    func execute(_ sql: String) throws(SQLError) {
        guard unsafe sqlite3_exec(db.sqliteConnection, sql, nil, nil, nil) == SQLITE_OK else {
            let code = unsafe sqlite3_extended_errcode(db.sqliteConnection)
            throw SQLError(resultCode: code, store: store)
        }
    }

    /// A failed ROLLBACK means that SQLite has already rolled back.
    func rollBack() { _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil) }

    /// Interrupts a statement that runs beyond the deadline.
    func bounded<Answer>(
        by deadline: Duration,
        _ body: () throws(SQLError) -> Answer
    ) throws(SQLError) -> Answer {
        unsafe csqliteguard_deadline_begin(db.sqliteConnection, deadline.milliseconds)
        defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
        return try body()
    }

    /// The open file is still the one at the path: rows deleted from a file that was replaced by
    /// another (a restored backup) are not deleted.
    func requireSameFile() throws(SQLError) {
        guard unsafe csqliteguard_has_moved(db.sqliteConnection) == 0 else {
            throw SQLError(.moved, store: store)
        }
    }

    /// The open file is the one at the path, and the plan was made for its present schema.
    func requireSame(_ plan: SQLPlan<SQLiteDialect>) throws(SQLError) {
        try requireSameFile()
        guard Int64(try count(SQLiteCatalog.versionSQL)) == plan.schemaVersion else {
            throw SQLError(.schemaChanged, store: store)
        }
    }

    /// Reads in one transaction that ends with a rollback, and fails when the schema is not the
    /// plan's any more.
    func reading<Answer>(
        _ plan: SQLPlan<SQLiteDialect>? = nil,
        deadline: Duration = SQLiteLimits.statementDeadline,
        _ body: () throws(SQLError) -> Answer
    ) throws(SQLError) -> Answer {
        try bounded(by: deadline) { () throws(SQLError) -> Answer in
            try execute("BEGIN")
            defer { rollBack() }
            if let plan { try requireSame(plan) }
            let answer = try body()
            if plan != nil { try requireSameFile() }
            return answer
        }
    }
}

/// The statements with which one access counts.
///
/// A verification repeats some of them for each user: a plan's own text is the same text at a
/// glance, while the connection's cache hashes all of it.
private final class CountStatements {
    private var known: [(sql: String, query: SQLiteQuery)] = []

    func query(_ sql: String, on db: Database, store: StoreName) throws(SQLError) -> SQLiteQuery {
        if let found = known.first(where: { $0.sql == sql }) { return found.query }
        let query = try SQLiteQuery(sql, on: db, store: store)
        known.append((sql: sql, query: query))
        return query
    }
}
