/// Growing pauses between tries: a few of the least, then each twice as long up to a most.
struct SpoolPause: Sendable {
    private let most: Duration
    private var next: Duration
    /// Pauses that are still as short as the first one.
    private var shortCount: Int
    /// The sum of all pauses so far.
    private(set) var total = Duration.zero

    init(from least: Duration, to most: Duration, shortCount: Int = 1) {
        self.most = most
        self.shortCount = shortCount
        next = least
    }

    /// For the lock of another program.
    static let lock = SpoolPause(
        from: SpoolLimits.busyPauseMin,
        to: SpoolLimits.busyPauseMax,
        shortCount: SpoolLimits.busyPauseShortCount
    )

    /// For rows that could not be taken.
    static let postponed = SpoolPause(
        from: SpoolLimits.postponedPauseMin,
        to: SpoolLimits.sweepInterval
    )

    /// How long to wait now.
    mutating func take() -> Duration {
        defer {
            shortCount -= 1
            if shortCount <= 0 { next = min(next * 2, most) }
        }
        total += next
        return next
    }
}
