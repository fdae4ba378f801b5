/// How many alarms of one event are passed on: a flood is some messages, and the rest stands in the
/// journal.
package struct AlarmLimit: Sendable {
    /// Of one event in any hour.
    package static let perHourMax = 10
    private static let hour = Duration.seconds(3600)

    private var recent: [JournalEvent: [WallTime]] = [:]

    package init() {}

    /// Whether one more is passed on; it counts then.
    package mutating func admit(_ event: JournalEvent, at now: WallTime) -> Bool {
        let times = (recent[event] ?? []).filter { now.since($0) < Self.hour }
        guard times.count < Self.perHourMax else { return false }
        recent[event] = times + [now]
        return true
    }
}
