import Engine
import Lifecycle

/// A target that cannot be set up yet: its credential or certificate file cannot be read.
///
/// Until an inspection can set it up it answers `misconfigured`, so that its work waits. Then it
/// is the target itself.
final class PendingTarget: TargetWrapper, KeySource {
    let name: TargetName
    private let pending: Pending<any PurgeTarget>

    /// - Parameters:
    ///   - name: The target's name.
    ///   - make: Tries to set it up.
    init(_ name: TargetName, make: @escaping @Sendable () async throws -> any PurgeTarget) {
        self.name = name
        pending = Pending(discard: { await $0.shutdown() }, make: make)
    }

    var inner: any PurgeTarget { pending.value ?? MisconfiguredTarget(name: name) }

    func inspect(withOutages: Bool) async -> TargetFindings {
        if let problem = await pending.setUp() { return TargetFindings(problems: [problem]) }
        return await inner.inspect(withOutages: withOutages)
    }

    /// Also of a kind of target that has no keys, which nothing is keyed by.
    private var source: any KeySource { inner as? any KeySource ?? MisconfiguredTarget(name: name) }

    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        await source.keys(key, of: orders)
    }

    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        await source.named(ids, as: key, besides: orders)
    }

    func shutdown() async { await pending.shutdown() }
}

/// What a target is until it can be set up.
private struct MisconfiguredTarget: KeySource, UserListing, RowHolding, CoverageSearching,
    RuleSuggesting
{
    let name: TargetName

    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        orders.map { $0.isStopped ? .stopped : .failure(.misconfigured) }
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        orders.map { _ in .failure(.misconfigured) }
    }

    func plan(_ order: PurgeOrder) async -> PlanAnswer { .failure(.misconfigured) }
    func inspect(withOutages: Bool) async -> TargetFindings { TargetFindings(problems: []) }
    func shutdown() async {}

    func users(where isWanted: @escaping @Sendable (UserID) -> Bool) async -> UsersAnswer {
        .failure(.misconfigured)
    }

    func check(_ filter: RowFilter) async -> FilterAnswer { .failure(.misconfigured) }
    func coverage() async -> CoverageAnswer { .failure(.misconfigured) }

    func suggestion(userTable: String?) async -> SuggestionAnswer { .failure(.misconfigured) }

    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        orders.map { _ in .failure(.misconfigured) }
    }

    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer { .failure(.misconfigured) }
}
