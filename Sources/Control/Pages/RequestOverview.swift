package import Lifecycle

/// How old open requests are, what they wait for, and which are due next.
package struct RequestOverview: Sendable, Hashable {
    /// A range of ages has this upper end; the last range has none.
    package static let ages: [Duration] = [.seconds(3600), days(1), days(7), days(30)]
    /// How many of the next deadlines are named.
    package static let deadlinesMax = 10
    /// A deadline within this time is near.
    package static let nearness = days(7)

    package let at: WallTime
    package let open: OpenOverview
    /// This month and those before it; it may be some minutes old.
    package let report: WireReport

    package init(at: WallTime, open: OpenOverview, report: WireReport) {
        (self.at, self.open, self.report) = (at, open, report)
    }

    private static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
