/// The tables of the state.
///
/// Identifiers are blobs of 16 bytes, hashes are keyed and have 32 bytes, times are milliseconds
/// since 1970, booleans are 0 or 1. The only column with a plain user id is `requests.user_id`, and
/// only while the request is open.
///
/// The lists are written in the words of SQLite; each adapter makes its tables from them. A CHECK
/// compares with `OR`: SQLite fills a temporary tree for every `IN` of more than two values, with
/// every row that is written.
enum StateSchema {
    /// Raise it with each change of a table.
    static let version = 1

    /// Tables and indexes in an order in which each finds what it refers to.
    static let tables = [
        general, users, requests, work, intake, rechecks, operations, notifications, ledger,
        messages,
    ]

    private static let general = """
        -- Small facts: the last stop, uses of vault keys (wrap_count.KEY), wakes (wake:REASON),
        -- notes (note:NAME).
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """
}
