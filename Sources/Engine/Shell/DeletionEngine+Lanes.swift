package import Lifecycle

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
