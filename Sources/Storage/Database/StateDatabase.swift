import CSQLiteGuard
import Engine
package import Lifecycle
import Synchronization

/// The private, durable state of one daemon.
///
/// It stands on a ``StateBackend``: a file of SQLite, or PostgreSQL. A commit is on disk when its
/// caller goes on.
///
/// Methods throw ``StorageError``, or `CancellationError` when they read in a cancelled task. A
/// failed write has written nothing, unless the kind is `commitFailed`.
package final class StateDatabase: Sendable {
    /// The file; the server's name for a state in PostgreSQL.
    package let path: String
    /// Whether the last process ended without ``close()``; a file was checked then.
    package let wasUncleanStop: Bool
    package let writer: StateWriter
    let appender: LedgerAppender
    let backend: any StateBackend

    /// This host in the tables of what each host has for itself; empty for a file.
    var host: String { backend.host ?? "" }

    let now: @Sendable () -> WallTime
    let scrubSignal = WakeSignal()
    let messageSignal = WakeSignal()
    let recheckAlarm = RecheckAlarm()
    /// The providers where one revocation ends the whole grant; ``noteWholeGrants(_:)``.
    let wholeGrants = Mutex<Set<ProviderName>>([])

    /// How long a connection waits for a lock: the TRUNCATE of a scrub for a reader, mostly.
    package static let busyTimeout = Duration.milliseconds(250)
    /// The fact that says whether the last process closed the state.
    static let cleanStop = "clean_stop"

    /// Sets SQLite up for the whole process; call it before anything opens a database.
    package static func configureProcess() { csqliteguard_configure_process() }

    /// Reads and syncs of SQLite files that have ended; it grows while the disk answers.
    package static var diskCallCount: UInt64 { csqliteguard_call_count() }

    /// Has a SQLite file that another program cuts short fail that file and not the process.
    ///
    /// Call it after the last handler of signals was installed. Returns whether it worked.
    package static func surviveFaults() -> Bool { csqliteguard_survive_faults() == 0 }

    /// Opens or makes the file of a state and takes the directory's lock.
    ///
    /// After an unclean stop the file is checked. A damaged file, or one of another schema, is left
    /// as it is: an empty state in its place would forget requests. `willCommit` runs right before
    /// each COMMIT, for fault injection.
    ///
    /// - Throws: ``StorageError``: `inUse`, `unopenable`, `otherSchema`, `corrupt`, `diskFull`.
    package static func open(
        path: String,
        now: @escaping @Sendable () -> WallTime,
        willCommit: @escaping @Sendable () throws -> Void = {}
    ) throws(StorageError) -> StateDatabase {
        do {
            let file = try SQLiteState(path: path)
            return try StateDatabase(file, file.path, file.wasUncleanStop, now, willCommit)
        } catch {
            throw StorageError(error, "open the state", at: path)
        }
    }

    init(
        _ backend: any StateBackend,
        _ path: String,
        _ wasUnclean: Bool,
        _ now: @escaping @Sendable () -> WallTime,
        _ willCommit: @escaping @Sendable () throws -> Void
    ) throws {
        (self.backend, self.path, self.now) = (backend, path, now)
        wasUncleanStop = wasUnclean
        appender = LedgerAppender(first: try Self.start(backend, wasUnclean, at: now()))
        writer = StateWriter(backend: backend, appender: appender, willCommit: willCommit)
        messageSignal.send()
        // What ended before a crash may not have been scrubbed.
        scrubSignal.send()
        // The next scrub then throws, whether or not the engine has anything to commit.
        writer.whenBroken { [scrubSignal] in scrubSignal.send() }
    }

    /// Notes that the state is in use, and returns how many leaves the ledger has.
    private static func start(
        _ backend: any StateBackend,
        _ wasUnclean: Bool,
        at now: WallTime
    ) throws -> Int {
        try backend.writeNow { connection in
            try connection.beginBatch()
            do {
                if wasUnclean, !backend.isShared { try makeWaitingDue(connection, at: now) }
                try connection.setFact(backend.cleanStop, to: "0")
                try connection.commitBatch()
            } catch {
                if connection.isInsideTransaction { try connection.rollBackBatch() }
                throw error
            }
            return try connection.int(
                "SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1"
            )
        }
    }

    /// Waits for what is queued, marks the stop as clean and gives the state back.
    ///
    /// - Throws: ``StorageError``; the next start checks a file then.
    package func close() async throws {
        scrubSignal.finish()
        recheckAlarm.finish()
        messageSignal.finish()
        appender.close()
        try await writer.perform { [backend] in try $0.setFact(backend.cleanStop, to: "1") }
        writer.refuse(StorageError(.closed, "use the state", at: path))
        do {
            try backend.close()
        } catch {
            throw StorageError(error, "close the state", at: path)
        }
    }

    /// Reads in one snapshot; keep it short, since a scrub waits for it up to ``busyTimeout``.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T {
        do {
            return try await backend.read(body)
        } catch let error as any DatabaseFailure {
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

    /// `rest` begins with `FROM`.
    func all<C: Columns, T: Sendable>(
        _ columns: C.Type,
        _ rest: String,
        _ values: [SQLValue] = [],
        body: @escaping @Sendable (Row<C>) throws -> T
    ) async throws -> [T] {
        try await read { try $0.all(columns, rest, values, body: body) }
    }

    /// Runs a statement for each of them in one commit and returns how many rows it changed.
    func change<T: Sendable>(
        _ items: [T],
        _ sql: String,
        values: @escaping @Sendable (T) -> [SQLValue]
    ) async throws -> Int {
        try await writer.perform { database in
            try items.reduce(0) { try $0 + database.run(sql, values($1)) }
        }
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
            try await backend.forgetReadPages()
        } catch let error as any DatabaseFailure {
            throw StorageError(error, "free the pages of the state", at: path)
        }
    }

    /// An update of an identity may have been committed right before the crash, unseen by its
    /// request.
    static func makeWaitingDue(
        _ database: any StateConnection,
        _ scope: PartitionScope = .all,
        at now: WallTime
    ) throws {
        try database.run(
            """
            UPDATE requests SET due_at = ? WHERE ended_at IS NULL
              AND phase IN ('accepted', 'scheduled', 'revoking')
              AND (park_reason IN ('needs_reauthentication', 'shared_identity')
                OR park_reason IS NULL AND due_at IS NULL)\(scope.term())
            """,
            [.time(now)]
        )
    }
}

extension StateBackend {
    var cleanStop: String { StateDatabase.cleanStop + (host.map { ":\($0)" } ?? "") }
}

/// Signals a recheck that becomes due before the time that is known; most new ones do not.
final class RecheckAlarm: Sendable {
    private let expected = Mutex<WallTime?>(nil)
    let signal = WakeSignal()

    /// Signals once: rechecks may have become due while nothing ran.
    init() { signal.send() }

    /// With `nil` every new recheck signals.
    func expect(_ time: WallTime?) { expected.withLock { $0 = time } }

    func opened(dueAt time: WallTime) {
        if expected.withLock({ $0.map { time < $0 } ?? true }) { signal.send() }
    }

    func wake() { signal.send() }

    func finish() { signal.finish() }
}
