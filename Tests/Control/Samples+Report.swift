import Control
import Lifecycle

extension Samples {
    static func report(of month: CalendarMonth, in timeZone: String) -> WireReport {
        var report = WireReport(
            month: month,
            timeZone: timeZone,
            span: month.span(in: .utc),
            generatedAt: time
        )
        report.controller = Controller(name: "Example <Apps>", contact: "privacy@example.com")
        report.gaps.recordsSince = time
        var deletions = WireReportRequests(kind: .deleteAccount)
        (deletions.openBefore, deletions.submitted, deletions.completed) = (3, 120, 118)
        (deletions.cancelled, deletions.merged, deletions.openAfter) = (1, 0, 4)
        report.requests = [deletions]
        report.days = (1...30).map {
            WireReportDay(
                day: "\(month)-\($0 < 10 ? "0" : "")\($0)",
                submitted: $0 % 9,
                completed: $0 % 7
            )
        }
        report.months = (-11...0).map {
            WireReportMonth(
                month: month.advanced(by: $0),
                submitted: 100 + $0,
                completed: 90 + $0,
                cancelled: 1
            )
        }
        report.erasure = erasure
        report.open.states = ["parked": 2, "revoking": 2]
        report.open.parked = ["on_hold": 2]
        var waiting = WireReportWaiting(
            requestID: requestID,
            kind: .deleteAccount,
            state: .parked,
            since: time
        )
        waiting.reason = "on_hold"
        report.open.waiting = [waiting]
        report.open.waitingCount = 2
        report.verdicts = [
            WireReportVerdicts(provider: "apple", verdicts: ["proven": 100, "token_dead": 3])
        ]
        report.kept = [
            WireReportKept(
                store: "app-db",
                table: "bills",
                reason: "kept: § 147 AO, \"ten\" years",
                requests: 12,
                rows: 48
            )
        ]
        var copies = WireReportCopies(store: "uploads", what: "=soft-deleted objects")
        (copies.requests, copies.isEndKnown, copies.until) = (9, true, time)
        report.copies = [copies]
        report.holds.stores = [WireReportHold(store: "app-db", count: 1, since: time)]
        report.holds.users = 1
        report.recipients = [
            Recipient(name: "Analytics Inc.", contact: "dpo@a.example", purpose: "statistics")
        ]
        return report
    }

    private static var erasure: WireReportErasure {
        var erasure = WireReportErasure()
        erasure.completed = 118
        erasure.deadlineMilliseconds = 30 * 86_400_000
        erasure.medianMilliseconds = 4200
        erasure.percentile95Milliseconds = 200_000
        erasure.worstMilliseconds = 31 * 86_400_000
        (erasure.late, erasure.overdue) = (1, 0)
        erasure.spans = [
            WireReportSpan(upToMilliseconds: 60_000, count: 100),
            WireReportSpan(upToMilliseconds: 30 * 86_400_000, count: 17),
            WireReportSpan(upToMilliseconds: nil, count: 1),
        ]
        return erasure
    }
}
