/// Monotonic time and waiting of the spool, injected so that tests own them.
package struct SpoolClock: Sendable {
    /// Time since any fixed point.
    package let uptime: @Sendable () -> Duration
    /// Waits; throws `CancellationError` in a cancelled task.
    package let rest: @Sendable (Duration) async throws -> Void

    package init(
        uptime: @escaping @Sendable () -> Duration,
        rest: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.uptime = uptime
        self.rest = rest
    }

    /// The machine's clock.
    package static func system() -> SpoolClock {
        let clock = ContinuousClock()
        let start = clock.now
        return SpoolClock(
            uptime: { start.duration(to: clock.now) },
            rest: { try await clock.sleep(for: $0) }
        )
    }
}
