/// Growing pauses while another program holds the lock.
struct SpoolPause: Sendable {
    private(set) var total = Duration.zero

    static let lock = SpoolPause()

    mutating func take() -> Duration {
        let next = SpoolLimits.busyPauseMin + total / SpoolLimits.busyPauseShare
        let pause = min(next, SpoolLimits.busyPauseMax)
        total += pause
        return pause
    }
}
