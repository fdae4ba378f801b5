package import Lifecycle

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

/// Runs of rechecks and replays take turns with requests.
extension DeletionEngine: StoreLanes {
    /// Throws `CancellationError` when the engine ends.
    package func turn<Answer: Sendable>(
        at store: StoreName,
        for requests: [RequestID],
        knowing holds: KnownHolds,
        _ body: @Sendable (PurgeGate) async -> Answer
    ) async throws -> Answer {
        let gate = PurgeGate()
        if let keeper { gate.limit { _ in keeper.mayBegin([Stewardship.partition]) } }
        guard case .done = await ticketed({ .takeTurn(store, requests, gate, holds, $0) }) else {
            throw CancellationError()
        }
        defer { post(.endTurn(store)) }
        return await body(gate)
    }

    package var stewardship: Stewardship? {
        guard let found = inspect({ $0.ownership.stewardship }) else { return nil }
        guard !found.claims.isEmpty else { return found }
        return keeper?.mayBegin([Stewardship.partition]) ?? false ? found : nil
    }

    package var userHoldsVersion: Int { inspect { $0.userHoldsVersion } }

    /// Stops the purges of runs, which have read the holds before; a hold on a user is durable now.
    package func userHeld() async { _ = await ticketed { .userHeld($0) } }

    /// The holds of this moment.
    package func holds() async throws -> [StoreHold] { inspect { $0.holds } }
}
