package import Lifecycle
package import PostgreSQL

/// Where a state in PostgreSQL is, and how it is reached.
package struct PostgreSQLStatePlan: Sendable {
    /// libpq's connection string or URI, with the password (PostgreSQL 15, 34.1.1).
    package let conninfo: Secret
    package let tls: PostgreSQLTLS
    /// The authorities; `nil` for the system's.
    package let caFile: String?
    /// The schema that has the tables, and nothing else.
    package let schema: String
    /// This process among those that share the state; it shuts out an earlier one of the same
    /// name.
    package let host: String
    /// Different for each start.
    package let session: TimeOrderedID
    package let uptime: @Sendable () -> Duration
    /// A file of the host that has the number of its last commit; `nil` beside the service.
    package var commitRecordPath: String?
    /// Whether other hosts share the state, and this one has partitions of it.
    var isShared = false
    /// Ends connections for tests.
    var faults = PostgreSQLFaults()

    package init(
        conninfo: Secret,
        tls: PostgreSQLTLS = .verifyFull,
        caFile: String? = nil,
        schema: String = "expunged",
        host: String,
        session: TimeOrderedID,
        uptime: @escaping @Sendable () -> Duration
    ) {
        (self.conninfo, self.tls, self.caFile, self.schema) = (conninfo, tls, caFile, schema)
        (self.host, self.session, self.uptime) = (host, session, uptime)
    }
}

extension PostgreSQLStatePlan {
    /// Connects to the server; `wakeDescriptor` ends waits when it becomes readable.
    ///
    /// - Throws: `PostgreSQLFailure`, ``PostgreSQLStateError``.
    func open(wakeDescriptor: Int32 = -1) throws -> PostgreSQLLink {
        if faults.connecting() { throw PostgreSQLFailure.unreachable }
        let limit = PostgreSQLStateLimits.connect
        let link = try PostgreSQLLink.open(
            try PostgreSQLConninfo(conninfo, tls: tls, caFile: caFile, limit: limit),
            within: limit,
            wakeDescriptor: wakeDescriptor,
            uptime: uptime
        )
        guard link.serverVersion >= PostgreSQLStateLimits.serverVersion else {
            throw PostgreSQLStateError(
                .unopenable,
                "the server is \(link.serverVersion / 10_000); 13 or later is needed"
            )
        }
        return link
    }
}

/// Points at which a test ends a connection; each answers whether it does.
struct PostgreSQLFaults: Sendable {
    /// Before a statement is sent.
    var before: @Sendable (String) -> Bool = { _ in false }
    /// After a statement has left, before its answer is read.
    var after: @Sendable (String) -> Bool = { _ in false }
    /// Before a connection is made.
    var connecting: @Sendable () -> Bool = { false }
}

/// Bounds of the state in PostgreSQL, each with its reason.
enum PostgreSQLStateLimits {
    /// 13 has `gen_random_uuid`, and is the oldest that the project supports.
    static let serverVersion: Int32 = 130_000

    /// Longest way to a usable session.
    static let connect = Duration.seconds(5)

    /// Longest wait for an answer: a commit may wait for a synchronous standby.
    static let answer = Duration.seconds(30)

    /// How long the outcome of a commit is asked for; then the process ends.
    static let outcome = Duration.seconds(30)

    /// How long a scrub waits for older snapshots; then it is made later.
    static let snapshots = Duration.seconds(2)

    /// Between two looks for older snapshots.
    static let snapshotPollMilliseconds: Int32 = 10

    /// The server ends a transaction that says nothing for so long: its host is cut off.
    static let idleInTransaction = Duration.seconds(5)

    /// For the turn of a commit, and for rows: longer than a host that is cut off can hold them.
    static let lock = Duration.seconds(20)

    /// Statements that are sent before an answer is read; some hundred kilobytes.
    static let sentMax = 256

    /// Connections that read at once.
    static let readerCountMax = 3
}
