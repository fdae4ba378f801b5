import Control
import Engine
import Lifecycle
import Storage

extension DaemonBackend {
    /// The index of open requests is read at most once in this time, however often the page is.
    private static let overviewLifetime = Duration.seconds(5)
    /// A report reads all requests of the month.
    private static let reportLifetime = Duration.seconds(300)

    func overview(caller: Caller) async throws(ControlProblem) -> RequestOverview {
        let now = parts.now()
        let kept = parts.overview.value
        if let kept, Self.isFresh(kept.at, Self.overviewLifetime, now) { return kept }
        let open = try await attempt("overview") {
            try await parts.state.openOverview(
                at: now,
                ages: RequestOverview.ages,
                near: RequestOverview.nearness,
                deadlinesMax: RequestOverview.deadlinesMax
            )
        }
        let report: WireReport
        if let kept, Self.isFresh(kept.report.generatedAt, Self.reportLifetime, now) {
            report = kept.report
        } else {
            let month = CalendarMonth(of: now, in: .utc)
            report = try await self.report(month, timeZone: nil, caller: caller)
        }
        let overview = RequestOverview(at: now, open: open, report: report)
        parts.overview.value = overview
        return overview
    }

    private static func isFresh(_ time: WallTime, _ lifetime: Duration, _ now: WallTime) -> Bool {
        now >= time && now.since(time) < lifetime
    }
}
