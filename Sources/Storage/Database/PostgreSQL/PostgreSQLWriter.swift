import Glibc
import Lifecycle
import PostgreSQL

/// The connection of a host that makes commits.
///
/// `commits` has a row for each host, which each of its transactions counts up first. So the row is
/// locked until the transaction has ended, whatever became of the connection: whoever reads the row
/// under a lock knows the outcome of the last COMMIT. A row of another session shuts this
/// one out.
final class PostgreSQLWriter: WritingConnection {
    private let connection: PostgreSQLConnection
    private let place: Place

    /// What is known of the row of this host.
    private final class Place {
        var isClaimed = false
        /// Of the last transaction that was committed.
        var number = 0 { didSet { record?.write(number) } }
        /// Where the next process finds the number.
        var record: CommitRecord?
        /// Of the transaction whose outcome is not known yet.
        var open: Int?
    }

    init(_ plan: PostgreSQLStatePlan) {
        let place = Place()
        self.place = place
        connection = PostgreSQLConnection(plan) { try Self.claim(place, $0) }
    }

    /// Takes the host's row over at the start; later it must be as it was left.
    private static func claim(_ place: Place, _ connection: PostgreSQLConnection) throws {
        let plan = connection.plan
        guard place.isClaimed else { return try begin(place, connection) }
        let found = try connection.first(
            "SELECT session, number FROM commits WHERE host = ? FOR UPDATE",
            [.text(plan.host)]
        ) { row in (session: try row.id("session"), number: row.int("number")) }
        guard let found, found.session == plan.session else {
            throw PostgreSQLStateError(.commitFailed, "another process has taken over")
        }
        if let open = place.open, found.number == open { (place.number, place.open) = (open, nil) }
        guard found.number == place.number else {
            try connection.setFact(StateDatabase.lostCommits, to: "1")
            throw PostgreSQLStateError.lostCommits
        }
    }

    /// Goes on with the number of the process before this one; a server with less has lost commits.
    private static func begin(_ place: Place, _ connection: PostgreSQLConnection) throws {
        let plan = connection.plan
        if let path = plan.commitRecordPath {
            let id = try connection.first("SELECT state_id FROM schema_version") { $0.text() }
            place.record = try CommitRecord(path: path, state: id ?? "", host: plan.host)
        }
        let known = place.record?.read() ?? 0
        let found = try connection.first(
            "SELECT number FROM commits WHERE host = ?",
            [.text(plan.host)]
        ) { $0.int() }
        if found ?? 0 < known { try connection.setFact(StateDatabase.lostCommits, to: "1") }
        let number = try connection.first(
            """
            INSERT INTO commits (host, session, number) VALUES (?, ?, ?)
            ON CONFLICT (host) DO UPDATE SET session = excluded.session,
              number = greatest(commits.number, excluded.number)
            RETURNING number
            """,
            [.text(plan.host), .id(plan.session), .int(known)]
        ) { $0.int() }
        place.number = number ?? known
        place.isClaimed = true
    }

    func connect() throws { try connection.connect() }

    func disconnect() { connection.disconnect() }

    var isInsideTransaction: Bool { connection.isInsideTransaction }
    var changesCount: Int { connection.changesCount }
    var totalChangesCount: Int { connection.totalChangesCount }

    func step(_ sql: String, _ values: [SQLValue], body: (RowValues) throws -> Bool) throws {
        try connection.step(sql, values, body: body)
    }

    func send(_ sql: String, _ values: [SQLValue]) throws { try connection.send(sql, values) }

    func settle() throws { try connection.settle() }

    /// Begins, after the commits of other hosts: they take turns.
    ///
    /// So one ledger, the places of ends and tombstones, ids and what intake compares are as with
    /// one writer, and in the order of commits. READ COMMITTED reads what the turn before wrote.
    func beginBatch() throws {
        try connection.connect()
        try connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        try connection.sendRequired(
            "UPDATE commits SET number = ? WHERE host = ? AND session = ?",
            [
                .int(place.number + 1), .text(connection.plan.host), .id(connection.plan.session),
            ]
        )
        try connection.send(Self.turn, [])
    }

    /// Takes the lock of the turn, until the end of the transaction.
    ///
    /// The first number is ours among those of a database, and the id of a table that of a schema.
    private static let turn = """
        SELECT pg_advisory_xact_lock(1702391911,
          CAST(CAST(to_regclass('ledger') AS oid) AS integer))
        """

    func ledgerSizeNow() throws -> Int? {
        try connection.int("SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1")
    }

    func rollBackBatch() { connection.rollBack() }

    func check(_ leases: Set<PartitionClaim>) throws -> Set<PartitionClaim> {
        try PartitionTable(connection: connection, host: connection.plan.host).check(leases)
    }

    func commitBatch() throws {
        // Before COMMIT the row must be locked, or its outcome could change after it was read.
        place.open = place.number + 1
        do {
            let tag = try connection.commit()
            guard tag == "COMMIT" else {
                place.open = nil
                throw PostgreSQLStateError(.sqlite, "the server answered \(tag) to COMMIT")
            }
            place.number += 1
            place.open = nil
        } catch let error as PostgreSQLStateError where error.endsConnection {
            try readOutcome(error)
        } catch {
            place.open = nil
            throw error
        }
    }

    /// Returns when the transaction was committed.
    ///
    /// - Throws: The error that made it unknown, when nothing was committed; `commitFailed` when
    ///   that cannot be known in time.
    private func readOutcome(_ error: PostgreSQLStateError) throws {
        let number = place.number + 1
        let deadline = connection.plan.uptime() + PostgreSQLStateLimits.outcome
        while true {
            do {
                try connection.connect()
                place.open = nil
                guard place.number == number else { throw error }
                return
            } catch let failure as PostgreSQLStateError where place.open != nil {
                guard failure.kind != .commitFailed, connection.plan.uptime() < deadline else {
                    throw PostgreSQLStateError(
                        .commitFailed,
                        "the outcome of a commit cannot be read: \(failure.reason)"
                    )
                }
                _ = poll(nil, 0, Int32(RetryPolicy.outcome.first.milliseconds))
            }
        }
    }
}
