/// Finds work that is due, could go on, and does not.
package struct StallWatch: Sendable {
    /// Twice the longest `timeout_total` of a provider (5 min).
    package static let bound = Duration.seconds(600)

    private var waiting: [QueueProgress.Place: (begunCount: Int, since: Duration)] = [:]

    package init() {}

    /// A place where work has been due for longer than ``bound`` and nothing was begun.
    ///
    /// `uptime` does not advance while the machine sleeps.
    package mutating func note(
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

/// One place where work waits, to be compared with itself later.
package struct QueueProgress: Hashable, Sendable {
    /// Where.
    package enum Place: Hashable, Sendable, CustomStringConvertible {
        case state
        case provider(ProviderName)
        case store(StoreName)

        package var description: String {
            switch self {
            case .state: "state"
            case .provider(let name): "provider \(name)"
            case .store(let name): "store \(name)"
            }
        }
    }

    package let place: Place
    /// Work waits, and neither a pause nor an open breaker nor a full window keeps it.
    package let isDue: Bool
    package let begunCount: Int

    package init(place: Place, isDue: Bool, begunCount: Int) {
        (self.place, self.isDue, self.begunCount) = (place, isDue, begunCount)
    }
}
