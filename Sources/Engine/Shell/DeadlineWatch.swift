package import Lifecycle

/// An open request whose statutory clock is about to run out, or did.
package struct DeadlineRow: Hashable, Sendable {
    package let request: RequestID
    package let deadlineAt: WallTime

    package init(request: RequestID, deadlineAt: WallTime) {
        (self.request, self.deadlineAt) = (request, deadlineAt)
    }
}

/// Warns before the statutory deadline of a request and alarms after it, once each per run.
package struct DeadlineWatch: Sendable {
    /// What there is to say about a request.
    package enum Warning: Hashable, Sendable {
        case near
        case passed
    }

    /// Once an hour is often enough for a clock of weeks, and costs nothing.
    static let period = Duration.seconds(3600)
    /// How long before a deadline it is near.
    package static let warning = Duration.seconds(7 * 86_400)
    /// The most requests told about at once; the journal is no list.
    static let rowsMax = 500
    /// The most requests looked at: what was told already hides no other until there are so many.
    static let lookMax = 50_000

    private let clock: any EngineClock
    private let deadlines: @Sendable (WallTime, Int) async throws -> [DeadlineRow]
    private let report: @Sendable (Warning, DeadlineRow) -> Void

    /// `deadlines` gives open requests up to a time, the most urgent first, at most so many.
    package init(
        clock: any EngineClock,
        deadlines: @escaping @Sendable (WallTime, Int) async throws -> [DeadlineRow],
        report: @escaping @Sendable (Warning, DeadlineRow) -> Void
    ) {
        self.clock = clock
        self.deadlines = deadlines
        self.report = report
    }

    /// Runs until cancelled.
    ///
    /// - Throws: `CancellationError`, or what the state throws.
    package func run() async throws {
        var told: [RequestID: Warning] = [:]
        while true {
            let now = clock.now()
            let limit = min(told.count + Self.rowsMax, Self.lookMax)
            let rows = try await deadlines(now + Self.warning, limit)
            let open = Set(rows.map(\.request))
            told = told.filter { open.contains($0.key) }
            let update = rows.filter { told[$0.request] != $0.warning(at: now) }
            for row in update.prefix(Self.rowsMax) {
                told[row.request] = row.warning(at: now)
                report(row.warning(at: now), row)
            }
            try await clock.sleep(until: now + Self.period)
        }
    }
}

extension DeadlineRow {
    fileprivate func warning(at now: WallTime) -> DeadlineWatch.Warning {
        deadlineAt <= now ? .passed : .near
    }
}
