import Control
import Lifecycle
import Settings
import Storage

extension WireReportRequests {
    init(_ kind: RequestKind, before: PeriodTotals, within: PeriodTotals) {
        self.init(kind: kind)
        openBefore = before.submitted - before.ended
        (submitted, completed) = (within.submitted, within.completed)
        (cancelled, merged) = (within.cancelled, within.merged)
        openAfter = openBefore + within.submitted - within.ended
    }
}

extension WireReportMonth {
    init(_ month: CalendarMonth, _ totals: PeriodTotals) {
        self.init(
            month: month,
            submitted: totals.submitted,
            completed: totals.completed,
            cancelled: totals.cancelled
        )
    }
}

extension WireReportErasure {
    /// The last bound but the deadline is far below it, so that both ends can be read.
    private static let bounds: [Duration] = [
        .seconds(60), .seconds(600), .seconds(3600), .seconds(6 * 3600), .days(1), .days(3),
        .days(7), .days(14),
    ]

    init(_ counts: CompletedCounts, deadline: Duration) {
        self.init()
        completed = counts.durations.count
        late = counts.lateCount
        medianMilliseconds = counts.duration(at: 0.5)?.milliseconds
        percentile95Milliseconds = counts.duration(at: 0.95)?.milliseconds
        worstMilliseconds = counts.durations.last?.milliseconds
        var counted = 0
        for bound in Self.bounds.filter({ $0 < deadline }) + [deadline] {
            let upTo = counts.count(upTo: bound)
            spans.append(
                WireReportSpan(upToMilliseconds: bound.milliseconds, count: upTo - counted)
            )
            counted = upTo
        }
        spans.append(WireReportSpan(upToMilliseconds: nil, count: completed - counted))
    }
}

extension WireReportOpen {
    init(_ counts: OpenCounts) {
        self.init()
        states = Dictionary(uniqueKeysWithValues: counts.byState.map { ($0.rawValue, $1) })
        parked = Dictionary(uniqueKeysWithValues: counts.byParkReason.map { ($0.rawValue, $1) })
        waitingCount = counts.waitingCount
        waiting = counts.waiting.map { row in
            var waiting = WireReportWaiting(
                requestID: row.request,
                kind: row.kind,
                state: row.state,
                since: row.since
            )
            waiting.reason = row.parkReason?.rawValue
            (waiting.createdAt, waiting.deadlineAt) = (row.createdAt, row.deadlineAt)
            return waiting
        }
    }
}
