package import Lifecycle

/// One user to purge from a target, and the cutoff that protects newer rows.
package struct PurgeOrder: Sendable {
    package let request: RequestID
    package let user: UserID
    /// Only rows not newer than this are touched: min(request's `created_at`, import time).
    package let cutoff: WallTime
    /// The holds on rows of the target, the same for all orders of one call: those rows stay.
    package var holds: [TargetHold]
    /// Tells the orders of one request apart: a keyed hash of the id; `nil` for one order.
    package var mark: String?
    /// Tells a replay from the erasure, for a store that keeps its answers; `nil` in the erasure.
    package var round: String?
    /// Closed for the request by a hold that comes after the call was made.
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
/// transaction; the answers come back in the order of the orders. A failing order never spoils its
/// neighbours.
package protocol PurgeTarget: Sendable {
    var name: TargetName { get }

    /// Idempotent and resumable; asks each order ``PurgeOrder/isStopped`` before it begins.
    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer]

    /// Counts what is left, with other queries than ``purge(_:)`` used.
    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer]

    /// Changes nothing. Counts to the end, in pieces that cost the application little.
    func plan(_ order: PurgeOrder) async -> PlanAnswer

    /// One clear sentence per problem, without personal data; empty when all is well.
    func diagnose() async -> [String]

    /// ``diagnose()``, and what an operator should know besides, by the same look at the store.
    func inspect() async -> TargetFindings

    /// The part of ``diagnose()`` that waiting does not mend: with it the target is paused.
    func startupProblems() async -> [String]

    /// Which of the store's own user ids are wanted; `isWanted` is quick, and asked for each.
    ///
    /// For erasing again: only keyed hashes of the erased ids are left.
    func users(where isWanted: @escaping @Sendable (UserID) -> Bool) async -> UsersAnswer

    /// Whether it could leave rows alone, before a hold on them is placed.
    func check(_ filter: RowFilter) async -> FilterAnswer

    /// Looks through the live schema (or bucket, folder) for what looks like user data.
    func coverage() async -> CoverageAnswer

    /// Lets go of what is held between calls; nothing is asked after it.
    func shutdown() async
}

extension PurgeTarget {
    package func plan(_ order: PurgeOrder) async -> PlanAnswer { .unknown }

    package func inspect() async -> TargetFindings { TargetFindings(problems: await diagnose()) }

    /// All of ``diagnose()``, for a store on this machine.
    package func startupProblems() async -> [String] { await diagnose() }

    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer { .unknown("a store of this kind does not list its users") }

    package func check(_ filter: RowFilter) async -> FilterAnswer {
        .refused("a target of this kind has no rows to choose from; hold the whole target instead")
    }

    package func coverage() async -> CoverageAnswer { .unknown }

    package func shutdown() async {}
}
