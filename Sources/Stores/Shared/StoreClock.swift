package import Engine
package import Lifecycle

/// Time and randomness of a store, injected so that tests own them.
package struct StoreClock: Sendable {
    /// Civil time: decides whether a row's creation time can be believed.
    package let wall: @Sendable () -> WallTime
    /// Monotonic time since any fixed point: bounds transactions.
    package let uptime: @Sendable () -> Duration
    /// Lets other writers in between two transactions.
    package let rest: Sleep
    /// 64 random bits for the `random` mask.
    package let entropy: @Sendable () -> UInt64

    /// The machine's clocks; civil time is the caller's, as everywhere in the service.
    package static func system(wall: @escaping @Sendable () -> WallTime) -> StoreClock {
        StoreClock(
            wall: wall,
            uptime: { BootClock.now },
            rest: BootClock.sleeping,
            entropy: {
                var generator = SystemRandomNumberGenerator()
                return generator.next()
            }
        )
    }
}
