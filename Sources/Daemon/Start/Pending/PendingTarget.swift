import Engine
import Lifecycle

/// A target that cannot be set up yet: its credential or certificate file cannot be read.
///
/// Until ``startupProblems()`` could set it up it answers `misconfigured`, so that its work waits.
/// Then it
/// is the target itself.
final class PendingTarget: KeySource {
    let name: TargetName
    private let pending: Pending<any PurgeTarget>

    /// - Parameters:
    ///   - name: The target's name.
    ///   - make: Tries to set it up.
    init(_ name: TargetName, make: @escaping @Sendable () async throws -> any PurgeTarget) {
        self.name = name
        pending = Pending(discard: { await $0.shutdown() }, make: make)
    }

    private var target: (any PurgeTarget)? { pending.value }

    func startupProblems() async -> [String] {
        if let problem = await pending.setUp() { return [problem] }
        return await target?.startupProblems() ?? []
    }

    func diagnose() async -> [String] { await inspect().problems }

    func inspect() async -> TargetFindings {
        if let problem = await pending.setUp() { return TargetFindings(problems: [problem]) }
        return await target?.inspect() ?? TargetFindings(problems: [])
    }

    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await target?.purge(orders)
            ?? orders.map { $0.isStopped ? .stopped : .failure(.misconfigured) }
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await target?.verify(orders) ?? orders.map { _ in .failure(.misconfigured) }
    }

    func plan(_ order: PurgeOrder) async -> PlanAnswer {
        await target?.plan(order) ?? .failure(.misconfigured)
    }

    func users(where isWanted: @escaping @Sendable (UserID) -> Bool) async -> UsersAnswer {
        await target?.users(where: isWanted) ?? .failure(.misconfigured)
    }

    func check(_ filter: RowFilter) async -> FilterAnswer {
        await target?.check(filter) ?? .failure(.misconfigured)
    }

    func coverage() async -> CoverageAnswer {
        await target?.coverage() ?? .failure(.misconfigured)
    }

    /// Also of a kind of target that has no keys: then nobody asks.
    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        guard let source = target as? any KeySource else {
            return orders.map { _ in .failure(.misconfigured) }
        }
        return await source.keys(key, of: orders)
    }

    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        guard let source = target as? any KeySource else { return .failure(.misconfigured) }
        return await source.named(ids, as: key, besides: orders)
    }

    func shutdown() async { await pending.shutdown() }
}
