/// Bounds of a SQLite store, each with its reason.
enum SQLiteLimits {
    /// Longest write transaction without its commit: so long the application's writers wait.
    static let transaction = Duration.milliseconds(25)

    /// Read no more here; a chunk and the commit that would pass it go into the next transaction.
    static let transactionSoft = Duration.milliseconds(20)

    /// Gap after ``chunkTransactionSoft`` of holding the lock without one.
    ///
    /// SQLite's busy handler is not queued. It tries after 0, 1, 3, 8, 18, 33 and 53 ms, and later
    /// sleeps up to 100 ms: it meets a gap of this length early.
    static let rest = Duration.milliseconds(15)

    /// Take no more users or chunks here, and no chunk that would pass ``transactionSoft`` with the
    /// commit.
    ///
    /// A writer that tries after 0, 1, 3, 8, 18 and 33 ms, as SQLite's own busy handler does, then
    /// meets a gap within 33 ms.
    static let chunkTransactionSoft = Duration.milliseconds(10)

    /// Rows that one statement may change, by their bytes, but for the last of them.
    ///
    /// In WAL mode SQLite keeps the old pages of a statement in memory until it ends, where it may
    /// have to take the statement back (pager.c, subjournalPage, with `temp_store = MEMORY`).
    static let chunkBytes = 4 << 20

    /// Longest value that a plan which spares long values looks into without a search before.
    ///
    /// What SQLite makes of one to read it must fit its bounds: separators around a list, a number
    /// twice, and of JSON up to 18 bytes for each of its own, of the last four values
    /// (`JSON_CACHE_SZ`).
    static let insideBytes = 1 << 20

    /// Columns whose bytes are counted: a sum of as many terms is an expression that SQLite takes.
    static let sizedColumns = 500

    /// Columns that one function takes (`SQLITE_MAX_FUNCTION_ARG`), with some to spare.
    static let namedColumns = 100

    /// How long we wait for another writer before the answer is "throttled".
    static let busyTimeout = Duration.seconds(2)

    /// Longest run of our statements in one transaction, whatever the application's triggers do;
    /// enough to read a table of ten million rows that has no index.
    static let statementDeadline = Duration.seconds(5)

    /// Longest check of the stored values of all tables; the rest is skipped, with advice.
    ///
    /// In a rollback-journal database the application cannot commit meanwhile.
    static let diagnosisDeadline = Duration.seconds(1)

    /// Free pages given back to the file system in one transaction; a few milliseconds.
    static let vacuumPages = 100

    /// Such transactions after one purge, 40 MiB with pages of 4 KiB; the rest waits for the next.
    static let vacuumPieces = 100

    /// Page cache of one store, in KiB.
    static let cacheKibibytes = 16_384
}
