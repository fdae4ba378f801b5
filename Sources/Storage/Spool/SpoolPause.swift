/// Growing pauses between tries: doubles from a least to a most.
struct SpoolPause: Sendable {
    private let least: Duration
    private let most: Duration
    private var next: Duration
    /// The sum of all pauses so far.
    private(set) var total = Duration.zero

    init(from least: Duration, to most: Duration) {
        self.least = least
        self.most = most
        next = least
    }

    /// For the lock of another program.
    static let lock = SpoolPause(from: SpoolLimits.busyPauseMin, to: SpoolLimits.busyPauseMax)

    /// How long to wait now.
    mutating func take() -> Duration {
        defer { next = min(next * 2, most) }
        total += next
        return next
    }
}
