/// When the next sample is due, and where among the tombstones it goes on.
package struct SampleSchedule: Hashable, Sendable {
    /// When the last sample began; before the first one, when the service first started.
    package let lastAt: WallTime
    /// Of the tombstones: where the last sample ended.
    package let position: Int
    /// Whether the last sample found data of an erased user that no recheck follows.
    package let isFound: Bool

    private init(lastAt: WallTime, position: Int, isFound: Bool) {
        (self.lastAt, self.position, self.isFound) = (lastAt, position, isFound)
    }

    /// Of a service that has never taken a sample: the first one is due after an interval.
    package init(startedAt now: WallTime) {
        self.init(lastAt: now, position: 0, isFound: false)
    }

    /// Reads ``text``; `nil` for anything else.
    package init?(text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3, let lastAt = Int64(words[0]), let position = Int(words[1]),
            position >= 0, let found = Int(words[2])
        else { return nil }
        self.init(
            lastAt: WallTime(unixMilliseconds: lastAt),
            position: position,
            isFound: found != 0
        )
    }

    /// As the state keeps it.
    package var text: String { "\(lastAt.unixMilliseconds) \(position) \(isFound ? 1 : 0)" }

    /// When the next sample is due.
    package func dueAt(every interval: Duration) -> WallTime { lastAt + interval }

    /// Whether the next sample is due.
    package func isDue(at now: WallTime, every interval: Duration) -> Bool {
        now >= dueAt(every: interval)
    }

    /// The run of the next sample.
    package var run: RecheckRun { RecheckRun(.sample(after: position)) }

    /// The schedule after a sample; `nil` for one that broke off, which is taken again.
    package func after(
        _ report: RecheckReport,
        isFollowed: Bool,
        begunAt: WallTime
    ) -> SampleSchedule? {
        guard !report.isBroken else { return nil }
        return SampleSchedule(
            lastAt: begunAt,
            position: report.position,
            isFound: !isFollowed && report.stores.contains { $0.found > 0 }
        )
    }
}
