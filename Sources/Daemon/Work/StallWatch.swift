import Engine

/// Finds work that is due, could go on, and does not.
struct StallWatch: Sendable {
    /// Twice the longest answer of a provider that can be configured (`timeout_total`, 5 min): a
    /// lane whose calls all hang until then still begins new ones in between.
    static let bound = Duration.seconds(600)

    private var waiting: [QueueProgress.Place: (begunCount: Int, since: Duration)] = [:]

    /// Compares with what was noted before.
    ///
    /// - Parameters:
    ///   - places: Every place where work can wait.
    ///   - uptime: Time that does not pass while the machine sleeps.
    /// - Returns: A place where work has been due for longer than ``bound`` and nothing was begun.
    mutating func note(
        _ places: [QueueProgress],
        at uptime: Duration
    ) -> QueueProgress.Place? {
        var stalled: QueueProgress.Place?
        for progress in places {
            guard progress.isDue else {
                waiting.removeValue(forKey: progress.place)
                continue
            }
            guard let before = waiting[progress.place], before.begunCount == progress.begunCount
            else {
                waiting[progress.place] = (progress.begunCount, uptime)
                continue
            }
            if uptime - before.since > Self.bound { stalled = stalled ?? progress.place }
        }
        return stalled
    }
}
