import Engine
import Lifecycle
import Storage

/// Rechecks the stores of completed deletions whenever one is due.
struct RecheckService: Sendable {
    let parts: RecheckParts
    var steward = Steward.single

    func run() async throws {
        let (state, clock) = (parts.state, parts.clock)
        var run = RecheckRun(.rechecks)
        try await withThrowingDiscardingTaskGroup { group in
            var timers = ArmedTimers()
            for await _ in state.recheckSignals {
                guard let next = try await steward.run({ try await recheck(&run) }) else {
                    // What it knew of the work may be what another host has done.
                    run = RecheckRun(.rechecks)
                    continue
                }
                timers.arm(next, at: clock.now(), by: clock, in: &group) { state.wakeRechecks() }
            }
            group.cancelAll()
        }
    }

    /// Rechecks everything that is due, and returns when the next one is.
    ///
    /// `nil` when there is none.
    func recheck(_ run: inout RecheckRun) async throws -> WallTime? {
        parts.state.expectRecheck(at: nil)
        try await parts.driver.drive(&run)
        guard case .ended(let next) = run.phase else { return nil }
        parts.state.expectRecheck(at: next)
        return next
    }
}
