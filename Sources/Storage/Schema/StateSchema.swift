import Cryptography

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
    /// The version of what these statements make, from 0 to 2³¹ - 1.
    ///
    /// It follows from their text without comments, so that no change of a table is forgotten.
    static func version(of statements: [String]) -> Int {
        let text = statements.map(SpoolSchema.normalized).joined(separator: "\n")
        let digest = SHA256.hash(Array(text.utf8))
        return digest.prefix(4).reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
    }

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
