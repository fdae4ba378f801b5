package import Lifecycle

/// Runs of rechecks and replays take turns with requests.
extension DeletionEngine: StoreLanes {
    /// Throws `CancellationError` when the engine ends.
    package func turn<Answer: Sendable>(
        at target: TargetName,
        for requests: [RequestID],
        _ body: @Sendable (PurgeGate) async -> Answer
    ) async throws -> Answer {
        let gate = PurgeGate()
        guard case .done = await ticketed({ .takeTurn(target, requests, gate, $0) }) else {
            throw CancellationError()
        }
        defer { post(.endTurn(target)) }
        return await body(gate)
    }

    /// The holds of this moment.
    package func holds() async throws -> [TargetHold] { inspect { $0.holds } }
}
