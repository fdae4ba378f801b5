import Control
import Engine
import Lifecycle
import Settings
import Storage

/// Stores that are purged of what the rows of a restored one name.
extension ReplayService {
    /// Goes on in the targets that depend on one in which users were erased again.
    ///
    /// What was found is kept until all of them are done with it, so that a replay after a crash
    /// goes on where this one ended.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func eraseDependents(of done: [ReplayOrder], _ pass: ReplayPass) async throws {
        guard !pass.isCopy, !done.isEmpty else { return }
        // Several ids of one request lead to the same.
        var requests: Set<RequestID> = []
        let first = done.filter { requests.insert($0.purge.request).inserted }
        try await erase(first, in: dependents(of: [pass.target.name]), pass.input)
    }

    /// Ends what an earlier replay left: its rows are gone, what they named is not.
    ///
    /// - Parameters:
    ///   - tombstones: Of the users, or ids of them, for whom others may be left.
    ///   - input: The present replay.
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func finishDependents(of tombstones: [Tombstone], _ input: ReplayInput) async throws {
        // An id may have been buried later than its user, whose cutoff counts.
        let known = Dictionary(tombstones.map { ($0.request, $0) }) {
            $0.cutoff <= $1.cutoff ? $0 : $1
        }
        let left = try await state.lateKeyRequests(among: Set(known.keys))
        guard !left.isEmpty else { return }
        let sources = registry.current.configuration.targets.filter { !$0.keys.isEmpty }
        let orders = left.compactMap { known[$0].map { lateOrder($0, $0.cutoff) } }
        let targets = dependents(of: Set(sources.map(\.name)))
        try await erase(orders, in: targets, input, isLate: true)
    }

    private func erase(
        _ orders: [ReplayOrder],
        in targets: [any PurgeTarget],
        _ input: ReplayInput,
        isLate: Bool = false
    ) async throws {
        guard !targets.isEmpty else { return }
        var open = orders
        // What was said of one store says nothing of the others.
        let restored = Set(dependents(of: Set([input.target].compactMap(\.self))).map(\.name))
        for target in targets where !open.isEmpty {
            var pass = ReplayPass(target, [:], input, hasher)
            pass.isLed = true
            if isLate {
                let isRestored = input.target == nil || restored.contains(target.name)
                let restoredAt = isRestored ? input.restoredAt ?? .distantPast : .distantPast
                open = open.map { lateOrder($0.tombstone, max($0.tombstone.cutoff, restoredAt)) }
            }
            // Nobody knows any more whether the rows are gone or were held.
            if isLate { pass.sources = (target as? KeyedTarget)?.byKey().sources ?? [] }
            open = try await erase(open, pass)
        }
        try await state.forgetLateKeys(of: open.map(\.tombstone))
    }

    /// What is kept is all that is used; the id itself is gone with the rows.
    private func lateOrder(_ tombstone: Tombstone, _ cutoff: WallTime) -> ReplayOrder {
        ReplayOrder(
            purge: PurgeOrder(request: tombstone.request, user: .nobody(), cutoff: cutoff),
            tombstone: tombstone
        )
    }

    /// In the order of purging, each behind the one that it depends on.
    func dependents(of names: Set<TargetName>) -> [any PurgeTarget] {
        let adapters = registry.current
        var reached = names
        return adapters.configuration.targets.compactMap { target in
            guard let source = target.keyedBy?.target, reached.contains(source) else { return nil }
            reached.insert(target.name)
            let store = adapters.targets[target.name]
            return (store as? KeyedTarget)?.replaying() ?? store
        }
    }
}
