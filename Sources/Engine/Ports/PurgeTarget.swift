package import Lifecycle

/// One user to purge from a target, and the cutoff that protects newer rows.
package struct PurgeOrder: Sendable {
    package let request: RequestID
    package let user: UserID
    /// Only rows not newer than this are touched: min(request's `created_at`, import time).
    package let cutoff: WallTime
    /// The holds on rows of the target; the same for all orders of one call.
    ///
    /// A purge leaves those rows alone, and what must stay for them to stay.
    package var holds: [TargetHold]
    /// Tells the orders of one request apart: a keyed hash of the id, for a target whose ids were
    /// found elsewhere; `nil` when the request has one order.
    package var mark: String?
    /// Tells a replay of an erasure from the erasure: a random text; `nil` in the erasure itself.
    ///
    /// For a store that keeps its answers for a while: what was erased then is there again.
    package var round: String?
    /// Closed for the request by a hold that comes after the call was made; `nil` for an order that
    /// nothing stops.
    package var gate: PurgeGate?

    package init(
        request: RequestID,
        user: UserID,
        cutoff: WallTime,
        holds: [TargetHold] = [],
        gate: PurgeGate? = nil
    ) {
        self.request = request
        self.user = user
        self.cutoff = cutoff
        self.holds = holds
        self.gate = gate
    }

    /// Whether the order may not begin any more: its answer is ``Lifecycle/PurgeAnswer/stopped``.
    ///
    /// Asked right before the order begins; what has begun may end.
    package var isStopped: Bool { gate?.isClosed(for: request) ?? false }

    /// Whether a reload came meanwhile, so that not even what has begun may be committed.
    ///
    /// Asked before each table and piece, and right before the commit, where a store has those.
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
/// transaction; the answers come back in the order of the orders. A failing order never spoils its
/// neighbours.
package protocol PurgeTarget: Sendable {
    var name: TargetName { get }

    /// Deletes or anonymizes. Idempotent and resumable: after a crash the same call finishes the
    /// work.
    ///
    /// Each order is asked whether it is stopped (``PurgeOrder/isStopped``) before it begins.
    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer]

    /// Counts what is left, with other queries than ``purge(_:)`` used.
    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer]

    /// Tells what ``purge(_:)`` would do for one user, and changes nothing.
    ///
    /// Counts to the end, since the count is what gets approved, in pieces that cost the
    /// application little.
    func plan(_ order: PurgeOrder) async -> PlanAnswer

    /// Whether the store is reachable, permitted and shaped as configured.
    ///
    /// - Returns: One clear sentence per problem, empty when all is well. No personal data.
    func diagnose() async -> [String]

    /// ``diagnose()``, and what an operator should know besides, by the same look at the store.
    func inspect() async -> TargetFindings

    /// The part of ``diagnose()`` that waiting does not mend: with it the target is paused.
    func startupProblems() async -> [String]

    /// Goes through the user ids that the store has itself, and tells those that are wanted.
    ///
    /// For erasing again after a backup was restored: only keyed hashes of the erased ids are left,
    /// so the ids must come from the store.
    ///
    /// - Parameter isWanted: Whether a user was erased; quick, and asked for every user.
    /// - Returns: The wanted users that the store has.
    func users(where isWanted: @escaping @Sendable (UserID) -> Bool) async -> UsersAnswer

    /// Whether it could leave rows alone, before a hold on them is placed.
    func check(_ filter: RowFilter) async -> FilterAnswer

    /// Looks through the live schema (or bucket, folder) for what looks like user data.
    func coverage() async -> CoverageAnswer

    /// Lets go of what is held between calls; nothing is asked after it.
    func shutdown() async
}

extension PurgeTarget {
    /// Cannot tell.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer { .unknown }

    /// Nothing to know besides.
    package func inspect() async -> TargetFindings { TargetFindings(problems: await diagnose()) }

    /// All of ``diagnose()``, for a store on this machine.
    package func startupProblems() async -> [String] { await diagnose() }

    /// Cannot tell.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer { .unknown("a store of this kind does not list its users") }

    /// No store but those with tables.
    package func check(_ filter: RowFilter) async -> FilterAnswer {
        .refused("a target of this kind has no rows to choose from; hold the whole target instead")
    }

    /// Cannot tell.
    package func coverage() async -> CoverageAnswer { .unknown }

    /// Nothing is held.
    package func shutdown() async {}
}
