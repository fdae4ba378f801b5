import GRDB

/// The tables of `state.db`.
///
/// Identifiers are blobs of 16 bytes, hashes are keyed and have 32 bytes, times are milliseconds
/// since 1970, booleans are 0 or 1. The only column with a plain user id is `requests.user_id`, and
/// only while the request is open.
///
/// A CHECK compares with `OR`: SQLite fills a temporary tree for every `IN` of more than two
/// values, with every row that is written.
enum StateSchema {
    /// `PRAGMA application_id`: "exst".
    static let applicationID = 0x6578_7374
    /// `PRAGMA user_version`; raise it with each change of a table.
    static let version = 3

    /// Makes the tables of an empty file, in one transaction.
    static func create(_ database: Database) throws {
        guard try !database.tableExists("meta") else { return }
        try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(version)")
        let tables = [
            general, users, requests, work, intake, rechecks, operations, notifications, ledger,
            messages, messageTriggers,
        ]
        for table in tables { try database.execute(sql: table) }
    }

    /// Refuses a file of another program or of another schema.
    ///
    /// - Returns: `false` for an empty file.
    /// - Throws: ``StorageError``: `unopenable`, `otherSchema`; or `DatabaseError`.
    static func check(_ database: Database, path: String) throws -> Bool {
        let id = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        guard id == 0 || id == applicationID else {
            throw StorageError(.unopenable, "open the state", at: path, cause: "not a state file")
        }
        guard try database.tableExists("meta") else { return false }
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found == version else {
            throw StorageError(
                .otherSchema,
                "open the state",
                at: path,
                cause: """
                    it has schema \(found), and this program needs schema \(version); start the \
                    version of expunged that wrote it, or restore a backup of this version
                    """
            )
        }
        return true
    }

    private static let general = """
        -- Small facts: the last stop, uses of vault keys (wrap_count.KEY), wakes (wake:REASON),
        -- notes (note:NAME).
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

        -- Empty but while the writer overwrites its scratch pages.
        CREATE TABLE scratch (id INTEGER PRIMARY KEY, zeros BLOB NOT NULL) STRICT;
        """
}
