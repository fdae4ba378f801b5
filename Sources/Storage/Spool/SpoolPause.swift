/// Growing pauses between tries: each is the least one and a share of all before it, up to a most.
struct SpoolPause: Sendable {
    private let least: Duration
    private let most: Duration
    /// The divisor of the total.
    private let share: Int
    private(set) var total = Duration.zero

    /// With a share of 1 each pause is twice as long as the one before.
    init(from least: Duration, to most: Duration, share: Int = 1) {
        (self.least, self.most, self.share) = (least, most, share)
    }

    /// For the lock of another program.
    static let lock = SpoolPause(
        from: SpoolLimits.busyPauseMin,
        to: SpoolLimits.busyPauseMax,
        share: SpoolLimits.busyPauseShare
    )

    /// For rows that could not be taken.
    static let postponed = SpoolPause(
        from: SpoolLimits.postponedPauseMin,
        to: SpoolLimits.sweepInterval
    )

    mutating func take() -> Duration {
        let next = min(least + total / share, most)
        total += next
        return next
    }
}
