package import Lifecycle
import Synchronization

/// One user to purge from a store, and the cutoff that protects newer rows.
package struct PurgeOrder: Sendable {
    package let request: RequestID
    package let user: UserID
    /// Only rows not newer than this are touched: min(request's `created_at`, import time).
    package let cutoff: WallTime
    /// Later dates of rows are wrong, also once they have passed; `nil` for those later than now.
    ///
    /// For stores whose application dates the rows: see ``Lifecycle/PurgeWork/judgedAt``.
    package var datesUpTo: WallTime?
    /// The holds on rows of the store, the same for all orders of one call: those rows stay.
    package var holds: [StoreHold]
    /// Tells the orders of one request apart: a keyed hash of the id; `nil` for one order.
    package var partitionKey: String?
    /// Tells a replay from the erasure, for a store that keeps its answers; `nil` in the erasure.
    package var attempt: String?
    /// When the deletion was completed that is looked at again; `nil` in the deletion itself.
    package var erasedAt: WallTime?
    /// Closed for the request by a hold that comes after the call was made.
    package var gate: PurgeGate?

    package init(
        request: RequestID,
        user: UserID,
        cutoff: WallTime,
        holds: [StoreHold] = [],
        gate: PurgeGate? = nil
    ) {
        (self.request, self.user, self.cutoff) = (request, user, cutoff)
        (self.holds, self.gate) = (holds, gate)
    }

    /// Asked right before the order begins; its answer is ``Lifecycle/PurgeAnswer/stopped`` then.
    package var isStopped: Bool { gate?.isClosed(for: request) ?? false }

    /// A reload came: asked before each table and piece, and right before the commit.
    package var isOutdated: Bool { gate?.isRetired ?? false }
}

/// Whether a store can leave the rows of a filter alone.
package enum FilterAnswer: Hashable, Sendable {
    case accepted
    /// Why not, for an operator; without personal data.
    case refused(String)
    case failure(EffectFailure)
}

/// One store of user data.
///
/// Calls take the orders of many requests at once, so that a store can put them into one
/// transaction. Answers come in the order of the orders. A failing order leaves the others alone.
package protocol PurgeStore: Sendable {
    var name: StoreName { get }

    /// Deletes or anonymizes; repeated after a crash, it finishes the work.
    ///
    /// It checks ``PurgeOrder/isStopped`` before each order.
    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer]

    /// Counts what is left, with other queries than ``purge(_:)`` used.
    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer]

    /// Counts exactly what ``purge(_:)`` would do for one user, and changes nothing.
    func plan(_ order: PurgeOrder) async -> PlanAnswer

    /// Whether the store is reachable, permitted and shaped as configured.
    ///
    /// - Parameter withOutages: Whether problems count that waiting mends. Without them, a problem
    ///   pauses the store.
    /// - Returns: One sentence per finding, without personal data.
    func inspect(withOutages: Bool) async -> StoreFindings

    /// Closes what is open between calls; no call follows.
    func shutdown() async
}

extension PurgeStore {
    /// Every problem, one sentence each.
    package func diagnose() async -> [String] {
        await inspect(withOutages: true).problems.map(\.description)
    }

    /// The problems that waiting does not mend: with one of them the store is paused.
    package func startupProblems() async -> [String] {
        await inspect(withOutages: false).problems.map(\.description)
    }

    /// The store itself, behind any wrapper: what a caller asks for its abilities.
    package var unwrapped: any PurgeStore { (self as? any StoreWrapper)?.inner.unwrapped ?? self }
}

/// A store that can list the ids of its users.
package protocol UserListing: PurgeStore {
    /// Lists the wanted users that the store has; `isWanted` is called for each of its users.
    ///
    /// A replay after a restore needs it: the service keeps only keyed hashes of erased ids.
    func users(where isWanted: @escaping UserFilter) async -> UsersAnswer
}

/// A store that can spare chosen rows.
package protocol RowHolding: PurgeStore {
    /// Whether it could leave these rows alone, before a hold on them is placed.
    func check(_ filter: RowFilter) async -> FilterAnswer
}

/// A store that can be searched for user data that no rule deals with.
package protocol CoverageSearching: PurgeStore {
    /// Which database it is, where a secret says so; no secret.
    var location: String? { get }

    /// Looks through the live schema (or bucket, folder) for what looks like user data.
    func coverage() async -> CoverageAnswer
}

extension CoverageSearching {
    package var location: String? { nil }
}

/// A store of tables, for which rules can be written from the live schema.
package protocol RuleSuggesting: PurgeStore {
    /// Reads the schema and sampled values, and writes rules for them.
    ///
    /// - Parameter userTable: `TABLE.COLUMN` or `TABLE`, if an operator named it.
    /// - Returns: The rules as a configuration, or why there are none.
    func suggestion(userTable: String?) async -> SuggestionAnswer
}

/// A store around another one, as which it acts unless it says otherwise.
package protocol StoreWrapper: PurgeStore {
    var inner: any PurgeStore { get }
}

extension StoreWrapper {
    package var name: StoreName { inner.name }

    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await inner.purge(orders)
    }

    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await inner.verify(orders)
    }

    package func plan(_ order: PurgeOrder) async -> PlanAnswer { await inner.plan(order) }

    package func inspect(withOutages: Bool) async -> StoreFindings {
        await inner.inspect(withOutages: withOutages)
    }

    package func shutdown() async { await inner.shutdown() }
}

/// What looking through a store's own user ids brought.
package enum UsersAnswer: Sendable {
    /// Each once.
    case found([UserID])
    /// The store cannot list whose data it holds; why, for an operator.
    case unknown(String)
    case failure(EffectFailure)
}

/// Which users a listing is asked for.
package typealias UserFilter = @Sendable (UserID) -> Bool

extension PurgeStore {
    /// What the store lists of wanted users, if it can list any.
    func listedUsers(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        guard let listing = self as? any UserListing ?? unwrapped as? any UserListing else {
            return .unknown("a store of this kind does not list its users")
        }
        return await listing.users(where: isWanted)
    }
}

/// One thing that forbids to purge; without personal data.
package struct StoreProblem: Hashable, Sendable, CustomStringConvertible {
    /// One clear sentence.
    package let text: String
    /// The section of the rule, below that of the store, such as `table[0]`; `nil` for the store.
    package let section: String?
    /// The statement that mends it, where one does.
    package let remedy: String?

    package init(_ text: String, in section: String? = nil, remedy: String? = nil) {
        (self.text, self.section, self.remedy) = (text, section, remedy)
    }

    package var description: String { remedy.map { "\(text); run: \($0)" } ?? text }
}

/// What an operator should know of a store, and that stops nothing.
package struct StoreAdvice: Hashable, Sendable {
    /// One clear sentence.
    package let text: String
    /// The column for which it has a rule, such as `items.order_id`.
    package let column: String?

    package init(_ text: String, for column: String? = nil) {
        (self.text, self.column) = (text, column)
    }
}

/// What one look at a store found, for an operator; without personal data.
package struct StoreFindings: Hashable, Sendable {
    /// Empty when all is well.
    package let problems: [StoreProblem]
    package let advice: [StoreAdvice]
    /// Columns without a rule that keep deletions of some users from ever ending, each with the
    /// rule that mends it, and tables that the check may not see.
    package let uncovered: [CoverageFinding]

    package init(
        found problems: [StoreProblem],
        advice: [StoreAdvice] = [],
        uncovered: [CoverageFinding] = []
    ) {
        // Two rules of one table report the same about it.
        var seen: Set<String> = []
        self.problems = problems.filter { seen.insert($0.description).inserted }
        self.advice = advice.filter { seen.insert($0.text).inserted }
        self.uncovered = uncovered.filter { seen.insert("\($0.name) \($0.reason)").inserted }
    }

    /// Problems of the store and advice, one sentence each.
    package init(problems: [String], advice: [String] = []) {
        self.init(
            found: problems.map { StoreProblem($0) },
            advice: advice.map { StoreAdvice($0) }
        )
    }
}

/// Tells a store in the middle of a call which of its orders may not begin any more.
///
/// A call carries up to ``Lifecycle/Limits/purgeBatchMax`` requests and may take its time; a hold
/// that is placed meanwhile reaches it here. It never opens again: what is released meanwhile goes
/// with a later call.
package final class PurgeGate: Sendable {
    private struct State {
        var closed: Set<RequestID> = []
        var isRetired = false
        var mayBegin: (@Sendable (RequestID) -> Bool)?
        var reason: String?
    }

    private let state = Mutex(State())

    package init() {}

    package func close(for requests: [RequestID]) {
        state.withLock { $0.closed.formUnion(requests) }
    }

    /// Ends the call: it was made under a configuration that is not in force any more.
    package func retire() { state.withLock { $0.isRetired = true } }

    /// Lets an order begin only while the lease of its partition lasts.
    func limit(to mayBegin: @escaping @Sendable (RequestID) -> Bool) {
        state.withLock { $0.mayBegin = mayBegin }
    }

    /// The store's own reason of a failure in this call, without personal data.
    package func note(_ reason: String) { state.withLock { $0.reason = reason } }

    package var reason: String? { state.withLock { $0.reason } }

    package var isRetired: Bool { state.withLock { $0.isRetired } }

    package func isClosed(for request: RequestID) -> Bool {
        state.withLock { state in
            state.isRetired || state.closed.contains(request)
                || !(state.mayBegin?(request) ?? true)
        }
    }
}
