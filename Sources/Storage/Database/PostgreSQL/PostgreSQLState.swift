import Glibc
package import Lifecycle
import Synchronization

/// The state in a schema of a PostgreSQL database.
///
/// One connection that writes (``PostgreSQLWriter``), some that read, one that vacuums, and one for
/// the leases of partitions.
final class PostgreSQLState: StateBackend {
    let place: String
    /// Whether the last process that wrote has closed the state.
    let wasCleanStop: Bool
    let host: String?

    private let plan: PostgreSQLStatePlan
    private let writer: PostgreSQLLane<PostgreSQLWriter>
    private let readers: [PostgreSQLLane<PostgreSQLConnection>]
    private let keeper: PostgreSQLLane<PostgreSQLConnection>
    private let leases: PostgreSQLLane<PostgreSQLConnection>
    /// Reads that run or wait, by connection; empty after the end.
    private let loads: Mutex<[Int]>

    /// Connects, and claims the place of this host.
    init(_ plan: PostgreSQLStatePlan) throws {
        self.plan = plan
        host = plan.isShared ? plan.host : nil
        place = "postgresql schema \(plan.schema)"
        writer = PostgreSQLLane("state-writer", PostgreSQLWriter(plan))
        readers = (0..<PostgreSQLStateLimits.readerCountMax).map { _ in
            PostgreSQLLane("state-reader", PostgreSQLConnection(plan))
        }
        keeper = PostgreSQLLane("state-keeper", PostgreSQLConnection(plan))
        leases = PostgreSQLLane("state-leases", PostgreSQLConnection(plan))
        loads = Mutex(Array(repeating: 0, count: PostgreSQLStateLimits.readerCountMax))
        let place = place
        let cleanStop = StateDatabase.cleanStop + (host.map { ":\($0)" } ?? "")
        wasCleanStop = try keeper.run { connection in
            try connection.connect()
            try StateSchema.check(connection, place)
            defer { connection.disconnect() }
            if plan.isShared { try Self.refuseNamesake(connection, plan.host, place) }
            return try connection.fact(cleanStop) != "0"
        }
        try writer.run { try $0.connect() }
    }

    /// Refuses a name under which another machine works: each of two would shut the other out.
    ///
    /// A process of this name that died renews its leases no more. It may be that of another
    /// machine, cut off and at work until they end.
    ///
    /// - Throws: ``StorageError`` of kind `inUse`.
    private static func refuseNamesake(
        _ connection: PostgreSQLConnection,
        _ host: String,
        _ place: String
    ) throws {
        let hosts = HostTable(connection: connection, host: host)
        let first = try hosts.renewal()
        while let last = try hosts.renewal() {
            guard last.at == first?.at else {
                let cause = "another machine works under the name '\(host)'; set state.host"
                throw StorageError(.inUse, "open the state", at: place, cause: cause)
            }
            guard last.age < Limits.leaseLifetime else { return }
            _ = poll(nil, 0, Int32(namesakePoll.milliseconds))
        }
    }

    /// Between two checks whether the lease of the other process has ended.
    private static let namesakePoll = Duration.milliseconds(250)

    func enqueue(_ body: @escaping @Sendable (any WritingConnection) -> Void) {
        writer.enqueue { body($0) }
    }

    func writeNow<T: Sendable>(
        _ body: @Sendable (any WritingConnection) throws -> T
    ) throws -> T {
        try writer.run { try body($0) }
    }

    /// Reads in one snapshot, on the connection with the fewest reads; idle ones stay cold.
    ///
    /// A read whose connection ends is made once more on another one.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection) throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        let index = loads.withLock { loads in
            let least = loads.indices.min { loads[$0] < loads[$1] }
            if let least { loads[least] += 1 }
            return least
        }
        guard let index else { throw StorageError(.closed, "read the state", at: place) }
        defer { loads.withLock { if !$0.isEmpty { $0[index] -= 1 } } }
        return try await readers[index].perform { connection in
            do {
                return try Self.snapshot(connection, body)
            } catch let error as PostgreSQLStateError where error.endsConnection {
                return try Self.snapshot(connection, body)
            }
        }
    }

    private static func snapshot<T>(
        _ connection: PostgreSQLConnection,
        _ body: (any StateConnection) throws -> T
    ) throws -> T {
        try connection.connect()
        try connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        do {
            let value = try body(connection)
            connection.endSnapshot()
            return value
        } catch {
            connection.rollBack()
            throw error
        }
    }

    func followCommit(_ connection: any WritingConnection) {}

    func close() throws {
        loads.withLock { $0 = [] }
        for lane in readers { try lane.run { $0.disconnect() } }
        try keeper.run { $0.disconnect() }
        try leases.run { $0.disconnect() }
        try writer.run { $0.disconnect() }
    }
}

// MARK: - Partitions

extension PostgreSQLState {
    /// Reads and changes leases beside the writer, each statement a transaction; `body` gets the
    /// name of this host.
    func withKeeper<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection, String) throws -> T
    ) async throws -> T {
        let host = plan.host
        return try await leases.perform { connection in
            try connection.connect()
            return try body(connection, host)
        }
    }
}

// MARK: - Scrubs

extension PostgreSQLState {
    private static let olderSnapshots = """
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend'
          AND pid <> pg_backend_pid()
          AND age(backend_xmin) > age(CAST(CAST(?1 AS xid8) AS xid))
        LIMIT 1
        """

    /// Tables with what an erasure destroys.
    private static let scrubbed = [
        "users", "identities", "credentials", "addresses", "rechecks", "found_keys", "requests",
    ]

    /// Removes the dead rows of what had ended before, and returns how many requests that were.
    ///
    /// A row stays that an older snapshot may still see, so the scrub waits for these: as far as
    /// the server shows them, which are those of the same role.
    func scrubBeside() async throws -> Int? {
        try await keeper.perform { [place] connection in
            try connection.connect()
            let ended = try connection.int("SELECT completed + cancelled FROM totals")
            let next = try connection.first(
                "SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text)"
            ) { $0.text() }
            let deadline = connection.plan.uptime() + PostgreSQLStateLimits.snapshots
            while try connection.has(Self.olderSnapshots, [.text(next)]) {
                guard connection.plan.uptime() < deadline else {
                    throw StorageError(.busy, "scrub the state", at: place)
                }
                _ = poll(nil, 0, PostgreSQLStateLimits.snapshotPollMilliseconds)
            }
            for table in Self.scrubbed {
                try connection.run("VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON) \(table)")
            }
            return ended
        }
    }

    func scrub(_ connection: any WritingConnection) {}

    func finishScrub(_ connection: any StateConnection) {}

    func forgetReadPages() {}
}

// MARK: - Opening

extension StateDatabase {
    /// Makes the tables of a state, once; another one of the same schema is left as it is.
    ///
    /// - Throws: ``StorageError``.
    package static func create(_ plan: PostgreSQLStatePlan) throws(StorageError) {
        do {
            let connection = PostgreSQLConnection(plan)
            try connection.connect()
            try StateSchema.create(plan.schema, connection)
            connection.disconnect()
        } catch {
            throw StorageError(error, "make the state", at: "postgresql schema \(plan.schema)")
        }
    }

    /// Opens a state in PostgreSQL, and shuts out an earlier process of the same host.
    ///
    /// `willCommit` runs right before each COMMIT, for fault injection.
    ///
    /// - Throws: ``StorageError``: `unreachable`, `unopenable`, `otherSchema`.
    package static func open(
        _ plan: PostgreSQLStatePlan,
        now: @escaping @Sendable () -> WallTime,
        willCommit: @escaping @Sendable () throws -> Void = {}
    ) throws(StorageError) -> StateDatabase {
        do {
            let server = try PostgreSQLState(plan)
            return try StateDatabase(
                server,
                server.place,
                !server.wasCleanStop,
                now,
                willCommit
            )
        } catch {
            throw StorageError(error, "open the state", at: "postgresql schema \(plan.schema)")
        }
    }
}
