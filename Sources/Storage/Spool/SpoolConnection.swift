import CSQLiteGuard
import Engine
import GRDB
import GRDBSQLite
import Lifecycle

/// Opens the spool the way a file that others write must be opened (sqlite.org/security.html).
enum SpoolConnection {
    /// Opens an existing file, by a path without symbolic links; the connection waits for no lock.
    static func open(_ path: String) throws -> DatabaseQueue {
        try GuardedVFS.install()
        _ = unsafe csqliteguard_never_create(path)
        return try DatabaseQueue(path: path, configuration: configuration())
    }

    /// Switches a file back from WAL when no other process has it open.
    ///
    /// SQLite copies the WAL under an exclusive lock then, so no other checkpoint can run
    /// (sqlite.org/wal.html, "The WAL-Reset Bug" needs two), and keeps its index in memory: the one
    /// beside the file belongs to others.
    ///
    /// - Throws: `DatabaseError`, `SQLITE_BUSY` while a process has it open; ``refusal(of:since:)``
    ///   is `largeWAL` when the WAL is larger than an application leaves it.
    static func leaveWAL(_ path: String) throws {
        try GuardedVFS.install()
        _ = unsafe csqliteguard_never_create(path)
        _ = unsafe csqliteguard_limit_wal(path, Int64(SpoolLimits.walByteCountMax))
        let queue = try DatabaseQueue(path: path, configuration: configuration(isAlone: true))
        _ = try queue.writeWithoutTransaction { database in
            try database.first("PRAGMA journal_mode = DELETE") { $0.text() }
        }
        try queue.close()
    }

    /// Why the guard refused an access, if it has since `count` refusals.
    static func refusal(of path: String, since count: UInt64) -> SpoolFailure? {
        guard unsafe csqliteguard_refusals(path) != count else { return nil }
        let kind = unsafe csqliteguard_last_refusal(path)
        return switch kind {
        case Int32(CSQLITEGUARD_SHARED_INDEX): .inWAL
        case Int32(CSQLITEGUARD_LARGE_WAL): .largeWAL
        default: .refused
        }
    }

    /// With `isAlone` it locks other processes out.
    private static func configuration(isAlone: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.label = "spool"
        // Waiting is ours: no thread is kept for it.
        configuration.busyMode = .immediateError
        configuration.publicStatementArguments = false
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            let connection = unsafe database.sqliteConnection
            try GuardedVFS.check(unsafe csqliteguard_harden(connection, 0, 0))
            try GuardedVFS.check(unsafe csqliteguard_no_checkpoint_on_close(connection))
            // Whoever may write beside the spool could cut a shared index short under us.
            try GuardedVFS.check(unsafe csqliteguard_never_share(connection))
            try database.wipeUnused()
            if isAlone { try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            try makeJSONTypeInnocuous(database)
            unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, SpoolLimits.valueByteCountMax)
            unsafe sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, 100)
            unsafe sqlite3_limit(connection, SQLITE_LIMIT_FUNCTION_ARG, 8)
            // EXTRA: the directory is synced after the journal is gone, or a power cut undoes a
            // scrub (sqlite.org/pragma.html#pragma_synchronous). mmap: a file cut short would kill
            // us. cache_spill: a spill would take the exclusive lock before the commit.
            try database.execute(
                sql: """
                    PRAGMA secure_delete = ON;
                    PRAGMA synchronous = EXTRA;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA mmap_size = 0;
                    PRAGMA cell_size_check = ON;
                    PRAGMA cache_size = -2048;
                    PRAGMA cache_spill = OFF;
                    PRAGMA wal_autocheckpoint = 0;
                    """
            )
        }
        return configuration
    }

    /// Static: SQLite reads the answer later.
    private static let object: StaticString = "object"

    /// Puts a function of our own in the place of `json_type`, for this connection.
    ///
    /// The CHECK on `options` calls it. SQLite 3.40.1 does not count its JSON functions as
    /// innocuous, and with `trusted_schema=OFF` could not load the public schema ("unsafe use of
    /// json_type()"). The first character tells an object from any other JSON, so even an index on
    /// it stays sound; a CHECK that is NULL passes (sqlite.org/c3ref/c_deterministic.html,
    /// "SQLITE_INNOCUOUS").
    private static func makeJSONTypeInnocuous(_ database: Database) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let code = unsafe sqlite3_create_function_v2(
            database.sqliteConnection,
            "json_type",
            1,
            flags,
            nil,
            { context, _, arguments in
                guard let first = unsafe arguments?.pointee,
                    let text = unsafe sqlite3_value_text(first)
                else { return unsafe sqlite3_result_null(context) }
                var index = 0
                while unsafe [0x20, 0x09, 0x0a, 0x0d].contains(text[index]) { index += 1 }
                guard unsafe text[index] == UInt8(ascii: "{") else {
                    return unsafe sqlite3_result_null(context)
                }
                unsafe sqlite3_result_text(
                    context,
                    UnsafeRawPointer(Self.object.utf8Start).assumingMemoryBound(to: CChar.self),
                    Int32(Self.object.utf8CodeUnitCount),
                    nil
                )
            },
            nil,
            nil,
            nil
        )
        try GuardedVFS.check(code)
    }
}
