import CSQLiteGuard
import FoundationEssentials
import GRDB
import Glibc
package import Lifecycle
import Synchronization

/// The private, durable state of one daemon: `state.db`.
///
/// One process (a lock file), one writing connection (``StateWriter``), one that copies the WAL
/// (``WALCopies``), read-only readers. With `synchronous=FULL` a commit is on disk when its caller
/// goes on (sqlite.org/pragma.html, "synchronous").
///
/// Methods throw ``StorageError``, or `CancellationError` when they read in a cancelled task. A
/// failed write has written nothing, unless the kind is `commitFailed`.
package final class StateDatabase: Sendable {
    package let path: String
    /// Whether the last process ended without ``close()``; the file was checked then.
    package let wasUncleanStop: Bool
    package let writer: StateWriter
    let appender: LedgerAppender

    private let queue: DatabaseQueue
    private let readers: StateReaders
    private let lock: DirectoryLock
    let now: @Sendable () -> WallTime
    let scrubSignal: AsyncStream<Void>.Continuation
    let scrubSignals: AsyncStream<Void>
    let messageSignal: AsyncStream<Void>.Continuation
    /// Messages may be due; yields once at the start.
    package let messageSignals: AsyncStream<Void>
    let recheckAlarm = RecheckAlarm()
    /// The providers where one revocation ends the whole grant; ``noteWholeGrants(_:)``.
    let wholeGrants = Mutex<Set<ProviderName>>([])

    /// How long a connection waits for a lock: the TRUNCATE of a scrub for a reader, mostly.
    package static let busyTimeout = Duration.milliseconds(250)
    /// Connections that read at once; each costs up to 2 MiB of page cache.
    package static let readerCountMax = 3

    /// Sets SQLite up for the whole process; call it before anything opens a database.
    package static func configureProcess() { csqliteguard_configure_process() }

    /// Has a SQLite file that another program cuts short fail that file and not the process.
    ///
    /// Call it after the last handler of signals was installed. Returns whether it worked.
    package static func surviveFaults() -> Bool { csqliteguard_survive_faults() == 0 }

    /// Opens or makes the database and takes the directory's lock.
    ///
    /// After an unclean stop the file is checked (`PRAGMA quick_check`). A damaged file, or one of
    /// another schema, is left as it is: an empty state in its place would forget requests.
    /// `willCommit` runs right before each COMMIT, for fault injection.
    ///
    /// - Throws: ``StorageError``: `inUse`, `unopenable`, `otherSchema`, `corrupt`, `diskFull`.
    package static func open(
        path: String,
        now: @escaping @Sendable () -> WallTime,
        willCommit: @escaping @Sendable () throws -> Void = {}
    ) throws(StorageError) -> StateDatabase {
        let path = try realPath(path)
        let lock = try DirectoryLock(path: path + ".lock")
        do {
            return try StateDatabase(path, lock, now, willCommit)
        } catch {
            throw StorageError(error, "open the state", at: path)
        }
    }

    private init(
        _ path: String,
        _ lock: DirectoryLock,
        _ now: @escaping @Sendable () -> WallTime,
        _ willCommit: @escaping @Sendable () throws -> Void
    ) throws {
        (self.path, self.lock, self.now) = (path, lock, now)
        // The state is the first database of a daemon: a VFS that came later would not have it.
        try GuardedVFS.install()
        try Self.makePrivateFile(path)
        let wasUnclean = try Self.checkBeforeUse(path)
        wasUncleanStop = wasUnclean
        queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        try queue.writeWithoutTransaction { try Self.setUpWriter($0) }
        try queue.write { try StateSchema.create($0) }
        try queue.writeWithoutTransaction { database in
            if wasUnclean { try Self.makeWaitingDue(database, at: now()) }
            try Self.markStop(database, isClean: false)
        }
        appender = LedgerAppender(first: try queue.read { try Self.ledgerSize($0) })
        readers = try StateReaders(
            path: path,
            configuration: Self.configuration,
            count: Self.readerCountMax
        )
        writer = StateWriter(queue: queue, appender: appender, willCommit: willCommit)
        (scrubSignals, scrubSignal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (messageSignals, messageSignal) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        messageSignal.yield()
        // What ended before a crash may not have been scrubbed.
        scrubSignal.yield()
        // The next scrub then throws, whether or not the engine has anything to commit.
        writer.whenBroken { [scrubSignal] in scrubSignal.yield() }
    }

    /// Waits for what is queued, marks the stop as clean and gives the directory back.
    ///
    /// - Throws: ``StorageError``; the next start checks the file then.
    package func close() async throws {
        scrubSignal.finish()
        recheckAlarm.finish()
        messageSignal.finish()
        appender.close()
        try await writer.perform { try Self.markStop($0, isClean: true) }
        writer.refuse(StorageError(.closed, "use the state", at: path))
        do {
            // The last connection to close checkpoints and removes the WAL and its index
            // (sqlite.org/wal.html, §2), unless it may only read: so the readers go first.
            try readers.close()
            try queue.close()
        } catch {
            throw StorageError(error, "close the state", at: path)
        }
        lock.release()
    }

    /// Reads in one snapshot; keep it short, since a scrub waits for it up to ``busyTimeout``.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T {
        do {
            return try await readers.read { try body($0) }
        } catch let error as DatabaseError {
            throw StorageError(error, "read the state", at: path)
        }
    }

    func all<T: Sendable>(
        _ sql: String,
        _ values: [SQLValue] = [],
        body: @escaping @Sendable (SQLRow) throws -> T
    ) async throws -> [T] {
        try await read { try $0.all(sql, values, body: body) }
    }

    func first<T: Sendable>(
        _ sql: String,
        _ values: [SQLValue] = [],
        body: @escaping @Sendable (SQLRow) throws -> T
    ) async throws -> T? {
        try await read { try $0.first(sql, values, body: body) }
    }

    /// Writes in the next commit, with entries of the ledger.
    func write<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection, LedgerAppender) throws -> T
    ) async throws -> T {
        let appender = appender
        return try await writer.perform { try body($0, appender) }
    }

    /// Frees the pages that readers keep: they hold user ids of requests that have ended.
    func forgetReadPages() async throws {
        do {
            try await readers.forgetPages()
        } catch let error as DatabaseError {
            throw StorageError(error, "free the pages of the state", at: path)
        }
    }
}

// MARK: - Opening

extension StateDatabase {
    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "state"
        configuration.busyMode = .timeout(0.25)
        configuration.journalMode = .wal
        // A transaction that cannot be rolled back poisons the writer instead of trapping.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            try database.execute(sql: "PRAGMA trusted_schema = OFF")
            guard !database.configuration.readonly else { return }
            // Deleted content is overwritten; with TRUNCATE nothing is left.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try database.wipeUnused()
            // Checkpoints are made by hand; with this limit the WAL's size says how much is in it.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try database.execute(sql: "PRAGMA journal_size_limit = 0")
            // 16 MiB: the hot ends of the indexes.
            try database.execute(sql: "PRAGMA cache_size = -16384")
        }
        return configuration
    }

    /// GRDB sets `synchronous = NORMAL` when it switches to WAL, after `prepareDatabase`.
    private static func setUpWriter(_ database: Database) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        // The pragma that switches answers "wal" before it commits, and a commit that fails then
        // is heard by nobody.
        guard try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal" else {
            throw StorageError(.unopenable, "set up the state", at: "journal_mode")
        }
        let expected = [("synchronous", 2), ("foreign_keys", 1), ("secure_delete", 1)]
        for (name, value) in expected {
            guard try Int.fetchOne(database, sql: "PRAGMA \(name)") == value else {
                throw StorageError(.unopenable, "set up the state", at: name)
            }
        }
    }

    /// Checks the file without changing it; returns whether the last stop was unclean.
    ///
    /// The exception is a first start that was cut off before the switch to WAL: only a connection
    /// that may write can undo its journal (sqlite.org/lockingv3.html, "Dealing with hot
    /// journals").
    private static func checkBeforeUse(_ path: String) throws -> Bool {
        var configuration = Configuration()
        configuration.readonly = unsafe access(path + "-journal", F_OK) != 0
        configuration.busyMode = .timeout(0.25)
        // As below: GRDB would trap.
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let wasUncleanStop = try queue.read { try check($0, path: path) }
        try queue.close()
        return wasUncleanStop
    }

    private static func check(_ database: Database, path: String) throws -> Bool {
        guard try StateSchema.check(database, path: path) else { return false }
        let isClean = try database.fact("clean_stop") == "1"
        guard try isClean || String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
            throw StorageError(
                .corrupt,
                "check the state",
                at: path,
                cause: "restore a backup or move the file away; it was not changed"
            )
        }
        return !isClean
    }

    private static func ledgerSize(_ database: Database) throws -> Int {
        try database.int("SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1")
    }

    private static func markStop(_ database: any StateConnection, isClean: Bool) throws {
        try database.setFact("clean_stop", to: isClean ? "1" : "0")
    }

    /// An update of an identity may have been committed right before the crash, unseen by its
    /// request.
    private static func makeWaitingDue(_ database: Database, at now: WallTime) throws {
        try database.run(
            """
            UPDATE requests SET due_at = ? WHERE ended_at IS NULL
              AND phase IN ('accepted', 'scheduled', 'revoking')
              AND (park_reason IN ('needs_reauthentication', 'shared_identity')
                OR park_reason IS NULL AND due_at IS NULL)
            """,
            [.time(now)]
        )
    }

    /// Symbolic links are resolved here and nowhere later.
    static func realPath(_ path: String) throws(StorageError) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let name = parts.last else { throw StorageError(.unopenable, "open", at: path) }
        let directory =
            parts.count == 1 && !path.hasPrefix("/")
            ? "." : String(path.dropLast(name.count))
        guard let resolved = unsafe realpath(directory, nil) else {
            throw StorageError(.unopenable, "find the directory", at: directory, errno: errno)
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved) + "/" + name
    }

    /// SQLite gives the WAL the same mode.
    ///
    /// Closing the descriptor before SQLite opens the file
    /// drops no lock (sqlite.org/howtocorrupt.html, §2.2).
    static func makePrivateFile(_ path: String) throws(StorageError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(.unopenable, "open the state", at: path, errno: errno)
        }
        defer { Glibc.close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw StorageError(.unopenable, "protect the state", at: path, errno: errno)
        }
    }
}
