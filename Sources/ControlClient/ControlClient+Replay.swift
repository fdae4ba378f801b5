package import Control

extension ControlClient {
    /// Erases again what a restored backup brought back and waits for the end, across restarts of
    /// the daemon.
    ///
    /// A daemon that restarted knows of no replay, and one that shows another's has forgotten this
    /// one; it is begun again then. Who was erased again until then only costs a look.
    ///
    /// - Parameters:
    ///   - order: What to erase again, with an id that no other order has.
    ///   - onRestart: Hears each time that it is begun again.
    /// - Returns: The replay at its end.
    /// - Throws: ``ControlClientError``: `unreachable` or `timedOut` when the daemon stays away for
    ///   longer than ``ClientLimits/reconnectTimeout``, `interrupted` when it does not last for one
    ///   replay, `refused` with `wrong_state` while another's runs.
    package func replayToEnd(
        _ order: ReplayInput,
        onRestart: () -> Void = {}
    ) async throws(ControlClientError) -> WireReplay {
        for start in 1...limits.replayStartsMax {
            if start > 1 { onRestart() }
            var replay = try await startReplay(order)
            while replay.id == order.id, replay.state.known == .running {
                try await pause(limits.replayPause)
                replay = try await self.replay()
            }
            if replay.id == order.id { return replay }
        }
        throw failure(.interrupted)
    }
}
