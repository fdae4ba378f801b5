import Engine
import Lifecycle

/// What a store at a database server is told to do.
protocol SQLConfiguration: Sendable {
    var name: StoreName { get }
    var rules: [TableRule] { get }
    /// What its rows hold for other stores.
    var keys: [KeyRule] { get }
    /// What other stores do in the same database; the coverage check counts it.
    var neighbours: SchemaClaims { get }
    /// How long its files hold what was deleted; `nil` when the operator did not say.
    var residualCopiesKept: Duration? { get }
    /// Which database it is; no secret.
    var location: String { get }
    /// Where facts are kept that outlive the process.
    var notes: (any NoteStore)? { get }
}

extension SQLConfiguration {
    /// What all stores of the database are about.
    var claims: SchemaClaims { SchemaClaims(rules: rules, keys: keys).joined(with: neighbours) }

    func workRules(holds: [RowFilter] = []) -> WorkRules {
        WorkRules(tables: rules, keys: keys, holds: holds, neighbours: neighbours.rules)
    }
}

/// One session at a database server: all that a new kind of server needs besides its dialect.
///
/// Confined to the queue of its store. No call blocks for longer than its deadline, and a fired
/// ``signal`` ends each wait. An error leaves an open transaction to be rolled back.
protocol SQLSession: AnyObject, SQLConnection {
    associatedtype Configuration: SQLConfiguration

    /// In the name of the store's queue.
    static var kind: String { get }
    /// Begins a transaction that writes.
    static var beginPurge: String { get }
    /// Begins a transaction that reads one snapshot.
    static var beginVerification: String { get }
    /// Has foreign keys checked at the end of the transaction.
    static var deferConstraints: String { get }
    /// What the server's own files hold for a while.
    static var residualCopies: ResidualPhrase { get }
    /// How long replicas may take to follow before the receipt says that they did not.
    static var replicaWait: Duration { get }
    /// How long a session may stand idle before it is replaced: a firewall may have cut it.
    static var idleMax: Duration { get }

    /// Wakes the waits of the present call.
    var signal: CancelSignal? { get set }
    /// Called before each statement; a test ends the session there.
    var beforeStatement: (@Sendable (String) -> Bool)? { get set }

    /// Connects, logs in and sets what every statement relies on.
    static func open(
        _ configuration: Configuration,
        proofKey: String,
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> Self

    /// Runs a statement without parameters.
    func run(_ sql: String) throws(SQLError)

    /// Ends the open transaction.
    func end(_ end: TransactionEnd) throws(SQLError)

    /// Reads the tables from the catalogs.
    func schema() throws(SQLError) -> SQLSchema

    /// Changes with what these tables are; empty where the server refuses a statement that was made
    /// for another schema.
    func mark(of tables: [String]) throws(SQLError) -> String

    /// Checks what is true of the whole server and of the role.
    func checkServer(_ found: inout SQLFindings) throws(SQLError)

    /// Has a statement planned, which also checks types and privileges.
    func explain(_ sql: String, _ parameters: SQLParameters) throws(SQLError)

    /// Deletes or masks up to `limit` rows in the open transaction.
    func change(
        _ table: TablePlan<Dialect>,
        _ parameters: SQLParameters,
        _ masks: ServerMasks
    ) throws(SQLError) -> ServerChunk

    /// Rows that the work passes over since other transactions have locked them; outside of a
    /// transaction of ours.
    func lockedCount(
        _ table: TablePlan<Dialect>,
        _ parameters: SQLParameters
    ) throws(SQLError) -> Int

    /// Adds the table and the trigger to the obstacle of an error.
    func named(_ error: SQLError, at table: String?) throws(SQLError) -> SQLError

    /// A place of the server's log behind all that was committed.
    func logPlace() throws(SQLError) -> String?

    /// The replicas that have not replayed a place of the log; `nil` when nobody can tell.
    func replicas(behind place: String?) throws(SQLError) -> ReplicasBehind?
}

/// The statement that ends a transaction.
enum TransactionEnd: String {
    case commit = "COMMIT"
    case rollback = "ROLLBACK"
}

struct ServerChunk {
    let count: Int
    /// Rows that it asked for.
    let asked: Int
    /// Rows that went with the last that referred to them, for each release of the table.
    var released: [Int] = []
}

/// Replicas that do not follow.
struct ReplicasBehind {
    let count: Int
    /// The role may see how far each of them is.
    let isKnown: Bool
    /// The longest of them, as the server measured it last.
    let lag: Duration?
}

/// The masks whose values a server cannot compute: the key of the hash never goes there.
struct ServerMasks {
    let hasher: any KeyedHasher
    let entropy: @Sendable () -> UInt64

    func value(_ mask: ColumnMask, of value: String, in table: String) -> String {
        mask.strategy == .random
            ? MaskText.random(entropy, hasher)
            : MaskText.hash(value, label: "\(table).\(mask.column)", hasher)
    }
}

extension SQLSession {
    /// Says of the rows that are left which are locked by others, as far as that can be found out.
    ///
    /// In a recheck no purge came before, and rows that are there are there.
    func explain(
        _ answers: inout [VerifyAnswer],
        of orders: [PurgeOrder],
        _ plan: SQLPlan<Dialect>
    ) {
        let left = orders.indices.filter { index in
            if case .remaining = answers[index] { orders[index].erasedAt == nil } else { false }
        }
        guard !left.isEmpty else { return }
        do throws(SQLError) {
            try run(Self.beginPurge)
            for index in left {
                guard let found = try locked(orders[index], plan) else { continue }
                answers[index] = .failure(.blocked(found))
            }
            try end(.rollback)
        } catch {
            // The rows are there, whoever holds them.
        }
    }

    /// What a purge of the order passes over.
    private func locked(
        _ order: PurgeOrder,
        _ plan: SQLPlan<Dialect>
    ) throws(SQLError) -> Obstacle? {
        for table in plan.tables {
            guard let user = table.root.key(for: order.user) else { continue }
            let count = try lockedCount(table, .of(user, time: order.cutoff))
            if count > 0 { return Obstacle(locked: count, at: table.table) }
        }
        return nil
    }

    func end(_ end: TransactionEnd) throws(SQLError) { try run(end.rawValue) }

    /// Tries statements, so that what does not fit shows here and not in the middle of a purge.
    func tryOut(
        _ statements: [String],
        of table: String,
        _ samples: (user: RootKey, key: BoundValue?),
        _ found: inout SQLFindings,
        grant: String? = nil
    ) throws(SQLError) {
        let time = WallTime(unixMilliseconds: 0)
        var parameters = SQLParameters.of(samples.user, time: time)
        (parameters.limit, parameters.key) = (1, samples.key)
        for sql in statements {
            do throws(SQLError) {
                try explain(sql, parameters)
            } catch {
                guard error.rest != .nothing || error.kind == .privilege else { throw error }
                let reason =
                    error.kind == .privilege
                    ? "the role may not SELECT, UPDATE or DELETE all of its rows (privileges or row"
                        + " security)"
                    : error.cause
                found.refuse(
                    "table '\(table)' cannot be worked on: \(reason)",
                    remedy: error.kind == .privilege ? grant : nil
                )
                return
            }
        }
    }
}

extension IDType {
    /// A parameter of the kind, for a statement that is only planned.
    fileprivate var sampleText: String {
        switch self {
        case .text, .mixed: "x"
        case .integer: "0"
        case .blob: "00"
        case .uuid: "00000000-0000-0000-0000-000000000000"
        }
    }

    var sample: BoundValue { .text(Array(sampleText.utf8)) }
}

/// Of servers that have replicas.
extension ResidualPhrase {
    static let laggingReplicas = ResidualPhrase(
        "lagging_replicas",
        "rows on % replicas, until they have replayed the deletion"
    )

    static let unknownReplicas = ResidualPhrase(
        "unknown_replicas",
        "rows on replicas, if there are any"
    )
}
