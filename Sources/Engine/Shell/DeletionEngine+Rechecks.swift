import Lifecycle

extension DeletionEngine {
    struct Erasure: Sendable {
        let request: Request
        let user: UserID
    }

    /// Called where the loop turns: the window still has the users.
    func erasures(in changes: [StateChange]) -> [Erasure] {
        guard ports.rechecks != nil else { return [] }
        let ended = changes.compactMap { change -> Request? in
            guard case .save(let now, let was, _) = change, now.phase == .completed,
                was.phase != .completed, now.kind == .deleteAccount, !now.purges.isEmpty
            else { return nil }
            return now
        }
        guard !ended.isEmpty else { return [] }
        let users = inspect { core in ended.map { core.window[$0.id]?.loaded.user } }
        return zip(ended, users).compactMap { request, user in
            user.map { Erasure(request: request, user: $0) }
        }
    }

    func openRechecks(of erasures: [Erasure]) -> [StateChange] {
        guard let rechecks = ports.rechecks else { return [] }
        return erasures.compactMap { erasure in
            rechecks.open(erasure.request, of: erasure.user).map(StateChange.openRecheck)
        }
    }
}
