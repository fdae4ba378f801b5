package import Engine

/// Monotonic time and waiting of the spool, injected so that tests own them.
package struct SpoolClock: Sendable {
    /// Time since any fixed point.
    package let uptime: @Sendable () -> Duration
    package let rest: Sleep

    package init(uptime: @escaping @Sendable () -> Duration, rest: @escaping Sleep) {
        (self.uptime, self.rest) = (uptime, rest)
    }

    /// Rests for a time; `false` in a cancelled task.
    func pause(_ time: Duration) async -> Bool {
        do {
            try await rest(time)
            return true
        } catch {
            // Only cancellation ends a rest early.
            return false
        }
    }

    /// The machine's clock.
    package static func system() -> SpoolClock {
        SpoolClock(uptime: { BootClock.now }, rest: BootClock.sleeping)
    }
}
