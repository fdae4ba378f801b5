import CSQLiteGuard
import Engine
import GRDB
import GRDBSQLite
import Glibc
import Lifecycle
import Synchronization

/// The spool's file through one guarded connection; what it holds is never believed.
///
/// Every access is one short transaction on the connection's queue, and says how it ended
/// (``SpoolAnswer``). Only a commit waits for a lock, that of readers. Cancelling the caller does
/// not interrupt an access.
final class SpoolDatabase: Sendable {
    enum Range: Sendable {
        /// Those after the last read; costs nothing when nothing was committed.
        case tail
        /// All again, piece by piece: an application may have written below the last read.
        case all
    }

    enum Tables: Sendable {
        case credentials
        case all
    }

    struct Reading: Sendable {
        var batch = SpoolBatch(credentials: [], requests: [], refused: [])
        /// Malformed credentials: only their row knows of them.
        var refusedCredentials: [CredentialSettlement] = []
        var isAtEnd = true
        /// No credential is left; requests may be.
        var areCredentialsAtEnd = true
        /// What was committed before this read is found by the end of the credentials.
        var isWalkStart = true
        /// The first credential that was not read; `nil` when no id can follow.
        var nextCredential: Int64?
        var unreadableCount = 0
        /// Objects that are not ours; `nil` when they were not counted.
        var foreignCount: Int?
        var look: SpoolProbe?
        /// An older or another content is there now.
        var isReplaced = false
        var hasOtherID = false

        var isEmpty: Bool {
            batch.credentials.isEmpty && batch.requests.isEmpty && batch.refused.isEmpty
                && refusedCredentials.isEmpty
        }
    }

    private struct State {
        var queue: DatabaseQueue?
        var path = ""
        var isInWAL = false
        /// Survives a reopening, so that an older content is noticed.
        var look: SpoolProbe?
        var tail = SpoolScan.Cursor()
        /// `dataVersion` when the tail was last read to its end.
        var tailVersion: Int?
        var rescan: SpoolScan.Cursor?
        /// `dataVersion` when the last rescan began.
        var rescanVersion: Int?
    }

    let host: String?
    let hasher: any KeyedHasher
    let clock: SpoolClock
    let givenPath: String
    private let state = Mutex(State())

    init(path: String, host: String? = nil, hasher: any KeyedHasher, clock: SpoolClock) {
        givenPath = path
        (self.host, self.hasher, self.clock) = (host, hasher, clock)
    }

    var isOpen: Bool { state.withLock { $0.queue != nil } }

    var isInWAL: Bool { state.withLock { $0.isInWAL } }

    /// A file in WAL mode is switched back first: its index is never shared.
    func open() -> SpoolAnswer<Void> {
        if isOpen { return .done(()) }
        guard let path = WALFile.realPath(givenPath) else { return .failure(.missing) }
        let refusals = unsafe csqliteguard_refusals(path)
        do {
            if isInWAL {
                try SpoolConnection.leaveWAL(path)
                state.withLock { $0.isInWAL = false }
            }
            let queue = try SpoolConnection.open(path)
            state.withLock { state in
                state.queue = queue
                state.path = path
                state.tail = SpoolScan.Cursor()
                (state.tailVersion, state.rescan, state.rescanVersion) = (nil, nil, nil)
            }
            return .done(())
        } catch {
            return answer(error, path, since: refusals)
        }
    }

    private func answer<Value>(
        _ error: any Error,
        _ path: String,
        since refusals: UInt64
    ) -> SpoolAnswer<Value> {
        let refusal = SpoolConnection.refusal(of: path, since: refusals)
        if refusal == .inWAL { state.withLock { $0.isInWAL = true } }
        return SpoolAnswer(error, path: path, refusal: refusal)
    }

    func close() {
        let queue = state.withLock { state in
            defer { state.queue = nil }
            return state.queue
        }
        do {
            try queue?.close()
        } catch {
            // It is closed when its last owner goes; nothing of ours is in it.
        }
    }

    func rewind() {
        state.withLock { state in
            state.tail = SpoolScan.Cursor()
            state.tailVersion = nil
        }
    }

    /// Although no other process wrote.
    func readAgain() { state.withLock { $0.tailVersion = nil } }

    /// Begins to read everything again, if another process wrote since or `isForced`.
    ///
    /// Returns whether there is something to read with `all`.
    func beginRescan(isForced: Bool) -> Bool {
        state.withLock { state in
            guard state.rescan == nil else { return true }
            guard isForced || state.rescanVersion != state.tailVersion else { return false }
            state.rescan = SpoolScan.Cursor()
            state.rescanVersion = state.tailVersion
            return true
        }
    }

    var isRescanning: Bool { state.withLock { $0.rescan != nil } }

    /// Runs one access on the connection; `committed` runs right after its end.
    func perform<Value: Sendable>(
        commitWait: Duration,
        _ body: @escaping @Sendable (Database) throws -> Value,
        committed: @escaping @Sendable (inout Value) -> Void = { _ in }
    ) async -> SpoolAnswer<Value> {
        await withCheckedContinuation { continuation in
            // Queued under the lock: `close()` comes before or after, never in between.
            let isOpen = state.withLock { state in
                guard let queue = state.queue else { return false }
                queue.asyncWriteWithoutTransaction { [self, path = state.path] database in
                    let refusals = unsafe csqliteguard_refusals(path)
                    do {
                        // It is open here whatever its mode has become, and for nobody else.
                        guard unsafe access(path, R_OK) == 0 || errno != EACCES else {
                            throw SpoolFailure.unopenable
                        }
                        var value = try Self.run(database, commitWait, body)
                        committed(&value)
                        continuation.resume(returning: .done(value))
                    } catch {
                        continuation.resume(returning: answer(error, path, since: refusals))
                    }
                }
                return true
            }
            if !isOpen { continuation.resume(returning: .closed) }
        }
    }

    /// One access: a transaction that `body` begins.
    static func run<Value>(
        _ database: Database,
        _ commitWait: Duration,
        _ body: (Database) throws -> Value
    ) throws -> Value {
        let connection = unsafe database.sqliteConnection
        unsafe csqliteguard_deadline_begin(connection, SpoolLimits.deadline.milliseconds)
        defer { unsafe csqliteguard_deadline_end(connection) }
        guard unsafe csqliteguard_has_moved(connection) != 1 else {
            throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED)
        }
        // SQLite keeps pages while the file's change counter stays the same. A header that was
        // overwritten past SQLite would be good for us, and for no application.
        unsafe csqliteguard_forget_pages(connection)
        try database.waitForLock(.zero)
        do {
            let value = try body(database)
            try database.waitForLock(commitWait)
            try database.run("COMMIT")
            return value
        } catch {
            if database.isInsideTransaction {
                _ = unsafe sqlite3_exec(connection, "ROLLBACK", nil, nil, nil)
            }
            throw error
        }
    }
}

// MARK: - Reading

extension SpoolDatabase {
    /// Reads the next rows that wait: credentials first, requests once no credential is left.
    ///
    /// A read of credentials alone leaves the requests to a rescan.
    func read(
        _ range: Range,
        _ tables: Tables = .all,
        limit: Int = SpoolLimits.batchMax
    ) async -> SpoolAnswer<Reading> {
        let before = state.withLock { $0 }
        let answer = await perform(commitWait: .zero) { [hasher, clock, host] database in
            try database.run("BEGIN")
            let look = try SpoolProbe(database, known: before.look, host: host)
            var reading = Reading()
            reading.look = look
            reading.foreignCount = look.foreignCount
            reading.hasOtherID = before.look.map { $0.spoolID != look.spoolID } ?? false
            reading.isReplaced =
                reading.hasOtherID || before.look.map { look.isOlder(than: $0) } ?? false
            var cursor = range == .all ? before.rescan : before.tail
            if range == .tail, !reading.isReplaced, look.dataVersion == before.tailVersion {
                cursor = nil
            }
            guard let cursor else { return (reading, before.tail) }
            var scan = SpoolScan(
                database: database,
                cursor: reading.isReplaced ? SpoolScan.Cursor() : cursor,
                end: clock.uptime() + SpoolLimits.readBudget,
                uptime: clock.uptime
            )
            let checks = SpoolChecks(spoolID: look.spoolID, hasher: hasher)
            try Self.fill(&reading, &scan, checks, tables, limit)
            reading.nextCredential = scan.cursor[.credentials]
            return (reading, scan.cursor)
        }
        return answer.map { reading, cursor in
            note(reading, cursor, range)
            return reading
        }
    }

    private static func fill(
        _ reading: inout Reading,
        _ scan: inout SpoolScan,
        _ checks: SpoolChecks,
        _ tables: Tables,
        _ limit: Int
    ) throws {
        let first = try scan.rows(of: .credentials, limit: limit)
        var rows = first.rows
        reading.isAtEnd = first.isAtEnd
        reading.areCredentialsAtEnd = first.isAtEnd
        if first.isAtEnd, tables == .all {
            let second = try scan.rows(of: .requests, limit: max(1, limit - first.rows.count))
            rows += second.rows
            reading.isAtEnd = second.isAtEnd
        }
        reading.unreadableCount = scan.unreadableCount
        (reading.batch, reading.refusedCredentials) = checks.sort(rows)
    }

    private func note(_ reading: Reading, _ cursor: SpoolScan.Cursor, _ range: Range) {
        state.withLock { state in
            state.look = reading.look
            if reading.isReplaced { state.rescan = nil }
            if range == .tail || reading.isReplaced {
                state.tail = cursor
                state.tailVersion = reading.isAtEnd ? reading.look?.dataVersion : nil
                // The first walk of the tail is one of everything.
                state.rescanVersion = state.rescanVersion ?? state.tailVersion
            } else {
                state.rescan = reading.isAtEnd ? nil : cursor
            }
        }
    }

    var look: SpoolProbe? { state.withLock { $0.look } }
}
