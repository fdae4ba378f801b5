package import Control

extension ControlClient {
    /// Repeats erasures and waits for the end, across restarts of the service.
    ///
    /// A service that restarted knows of no replay, or shows another one; this one is begun again
    /// then. `order` has an id that no other order has.
    ///
    /// - Throws: ``ControlClientError``: `unreachable` or `timedOut` when the service stays away
    ///   for longer than ``ClientLimits/reconnectTimeout``, `interrupted` when it restarts during
    ///   each of ``ClientLimits/replayStartsMax`` tries, `refused` with `wrong_state` while another
    ///   runs.
    package func replayToEnd(
        _ order: ReplayInput,
        onRestart: () -> Void = {},
        onProgress: (WireReplay) -> Void = { _ in }
    ) async throws(ControlClientError) -> WireReplay {
        for start in 1...limits.replayStartsMax {
            if start > 1 { onRestart() }
            var replay = try await call(.startReplay(order))
            while replay.id == order.id, replay.state.known == .running {
                onProgress(replay)
                try await pause(limits.replayPause)
                replay = try await call(.replay)
            }
            if replay.id == order.id { return replay }
        }
        throw failure(.interrupted)
    }
}
