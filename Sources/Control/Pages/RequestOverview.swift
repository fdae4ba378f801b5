package import Lifecycle

/// How old open requests are, what they wait for, and which are due next.
package struct RequestOverview: Sendable, Hashable {
    /// Open requests in one state, or parked for one reason.
    package struct Group: Sendable, Hashable {
        package let state: RequestState
        package let reason: ParkReason?
        /// By age, in the order of ``RequestOverview/ages``.
        package let counts: [Int]
        package let oldest: RequestID?
        package let oldestAt: WallTime?

        package init(
            state: RequestState,
            reason: ParkReason?,
            counts: [Int],
            oldest: RequestID?,
            oldestAt: WallTime?
        ) {
            (self.state, self.reason, self.counts) = (state, reason, counts)
            (self.oldest, self.oldestAt) = (oldest, oldestAt)
        }
    }

    /// An open request and its deadline.
    package struct Deadline: Sendable, Hashable {
        package let request: RequestID
        package let at: WallTime
        package let state: RequestState
        package let reason: ParkReason?

        package init(
            request: RequestID,
            at: WallTime,
            state: RequestState,
            reason: ParkReason?
        ) {
            (self.request, self.at, self.state, self.reason) = (request, at, state, reason)
        }
    }

    /// A range of ages has this upper end; the last range has none.
    package static let ages: [Duration] = [.seconds(3600), days(1), days(7), days(30)]
    /// How many of the next deadlines are named.
    package static let deadlinesMax = 10
    /// A deadline within this time is near.
    package static let nearness = days(7)

    package let at: WallTime
    package let groups: [Group]
    package let overdue: Int
    /// Not overdue, but within ``nearness``.
    package let near: Int
    /// The earliest first.
    package let deadlines: [Deadline]
    /// This month and those before it; it may be some minutes old.
    package let report: WireReport

    package init(
        at: WallTime,
        groups: [Group],
        overdue: Int,
        near: Int,
        deadlines: [Deadline],
        report: WireReport
    ) {
        (self.at, self.groups, self.overdue, self.near) = (at, groups, overdue, near)
        (self.deadlines, self.report) = (deadlines, report)
    }

    private static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
