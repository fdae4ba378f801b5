import Control
import Engine
import Lifecycle
import Storage

/// Deletions that are not over yet, and so have no tombstone.
extension ReplayService {
    /// Events that the engine is handed at once.
    private static let reopenedMax = 128

    /// Has the open deletions purge and verify again what a backup may have brought back.
    ///
    /// Before the first tombstone is read: what is completed until then has one, and what is not
    /// verifies these targets after this. So also what has only begun is told; its verification
    /// may have seen the store as it was, and nobody but the engine knows.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func reopen(_ input: ReplayInput) async throws {
        let names = Set(targets(input).map(\.name))
        let restored = names.union(dependents(of: names).map(\.name))
        let open = try await state.openDeletions(begunIn: restored)
        let event = RequestEvent.restored(restored, at: input.restoredAt)
        var rest = open.keys.sorted()[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            await withDiscardingTaskGroup { group in
                for id in rest.prefix(Self.reopenedMax) {
                    group.addTask { _ = await self.operate(id, event) }
                }
            }
            rest = rest.dropFirst(Self.reopenedMax)
        }
        note(reopened: open.values.count { $0 })
    }
}
