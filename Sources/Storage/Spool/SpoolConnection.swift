import CSQLiteGuard
import GRDB
import GRDBSQLite
import Glibc
import Lifecycle

/// Opens the spool the way a file that others write must be opened (sqlite.org/security.html).
enum SpoolConnection {
    /// Opens an existing file; never creates one.
    ///
    /// - Parameter path: Without symbolic links.
    /// - Returns: The one connection; it waits for no lock.
    /// - Throws: `DatabaseError`.
    static func open(_ path: String) throws -> DatabaseQueue {
        let code = csqliteguard_install()
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        _ = unsafe csqliteguard_never_create(path)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// The connection's settings; also those of a file that is being made.
    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "spool"
        // Waiting is ours: no thread is kept for it.
        configuration.busyMode = .immediateError
        configuration.publicStatementArguments = false
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            let connection = unsafe database.sqliteConnection
            var code = unsafe csqliteguard_harden(connection, 0, 0)
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
            code = unsafe csqliteguard_no_checkpoint_on_close(connection)
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
            unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, SpoolLimits.valueByteCountMax)
            unsafe sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, 100)
            unsafe sqlite3_limit(connection, SQLITE_LIMIT_FUNCTION_ARG, 8)
            // EXTRA: the directory is synced after the journal is gone, or a power cut undoes a scrub
            // (sqlite.org/pragma.html#pragma_synchronous). mmap: a file cut short would kill us.
            // cache_spill: a spill would take the exclusive lock before the commit.
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

    /// The path with the directory's symbolic links resolved; the last component is never followed.
    static func realPath(_ path: String) -> String? {
        let name = WALFile.name(ofPath: path)
        guard !name.isEmpty else { return nil }
        let directory = path.contains("/") ? String(path.dropLast(name.utf8.count)) : "."
        guard let resolved = unsafe realpath(directory.isEmpty ? "/" : directory, nil) else {
            return nil
        }
        defer { unsafe free(resolved) }
        let real = unsafe String(cString: resolved)
        return real == "/" ? "/" + name : real + "/" + name
    }
}
