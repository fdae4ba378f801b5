import Control
import Engine
import Lifecycle
import Settings
import Storage

extension DaemonBackend {
    func report(
        _ month: CalendarMonth,
        timeZone: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireReport {
        let name = timeZone ?? "UTC"
        guard let zone = TimeZoneFile.rules(named: name) else {
            throw ControlProblem(
                .malformedQuery,
                "no time zone '\(name)' in /usr/share/zoneinfo; try Europe/Berlin or UTC"
            )
        }
        guard month <= CalendarMonth(of: parts.now(), in: zone) else {
            throw ControlProblem(.malformedQuery, "the month \(month) has not begun")
        }
        await parts.reportTurn.enter()
        defer { parts.reportTurn.leave() }
        return try await attempt("report") {
            var report = WireReport(
                month: month,
                timeZone: name,
                span: month.span(in: zone),
                generatedAt: parts.now()
            )
            try await addRequests(to: &report, zone)
            try await addEnds(to: &report)
            try await addOpen(to: &report)
            let configuration = parts.registry.current.configuration
            report.erasure.deadlineMilliseconds = configuration.requests.deadline.milliseconds
            report.controller = configuration.controller
            report.recipients = configuration.recipients
            return report
        }
    }

    /// By kind, day and month.
    private func addRequests(to report: inout WireReport, _ zone: TimeZoneRules) async throws {
        let month = report.month
        report.gaps = try await parts.state.gaps(in: report.from..<report.until)
        let days = try await parts.state.periodTotals(of: month.days(in: zone))
        report.days = days.enumerated().map { index, totals in
            let sum = totals.values.reduce(PeriodTotals(), +)
            return WireReportDay(
                day: "\(month)-\(index < 9 ? "0" : "")\(index + 1)",
                submitted: sum.submitted,
                completed: sum.completed
            )
        }
        let before = try await monthsBefore(month, since: report.gaps.recordsSince, zone)
        report.requests = RequestKind.allCases.map { kind in
            WireReportRequests(
                kind,
                before: before.map { $0.totals[kind] ?? PeriodTotals() }.reduce(.init(), +),
                within: days.map { $0[kind] ?? PeriodTotals() }.reduce(.init(), +)
            )
        }
        let all = before + [(month: month, totals: Self.sum(days))]
        report.months = (-11...0).map { month.advanced(by: $0) }.filter { $0 >= .first }
            .map { month in
                let totals = all.filter { $0.month == month }.flatMap { $0.totals.values }
                return WireReportMonth(month, totals.reduce(PeriodTotals(), +))
            }
    }

    private static func sum(
        _ days: [[RequestKind: PeriodTotals]]
    ) -> [RequestKind: PeriodTotals] {
        days.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// All of them: what was open when the month began is what they leave.
    ///
    /// The first takes what is older than everything, as a wrong clock dates it.
    private func monthsBefore(
        _ month: CalendarMonth,
        since first: WallTime?,
        _ zone: TimeZoneRules
    ) async throws -> [(month: CalendarMonth, totals: [RequestKind: PeriodTotals])] {
        var months: [CalendarMonth] = []
        var next = max(first.map { CalendarMonth(of: $0, in: zone) } ?? month, .first)
        while next < month {
            months.append(next)
            next = next.advanced(by: 1)
        }
        let ends = months.map { $0.span(in: zone).upperBound }
        let spans = zip([.distantPast] + ends, ends).map { $0..<$1 }
        let totals = try await parts.state.periodTotals(of: spans)
        return zip(months, totals).map { (month: $0, totals: $1) }
    }

    /// What was completed, what it left, and how long it took.
    private func addEnds(to report: inout WireReport) async throws {
        var left = LeftData()
        let span = report.from..<report.until
        let counts = try await parts.state.completedCounts(in: span) { groups in
            for group in groups {
                if left.scopes[group.scope] == nil {
                    let document = try await parts.state.scopeDocument(group.scope)
                    left.scopes[group.scope] = try ErasureScope(document: document)
                }
                left.add(group)
            }
        }
        report.erasure = WireReportErasure(
            counts,
            deadline: parts.registry.current.configuration.requests.deadline
        )
        report.verdicts = counts.verdicts.map { provider, verdicts in
            WireReportVerdicts(
                provider: provider.rawValue,
                verdicts: Dictionary(uniqueKeysWithValues: verdicts.map { ($0.rawValue, $1) })
            )
        }.sorted { $0.provider < $1.provider }
        report.kept = left.kept
        report.copies = left.copies
    }

    private func addOpen(to report: inout WireReport) async throws {
        let counts = try await parts.state.openCounts(
            acceptedBefore: report.until,
            at: report.generatedAt
        )
        report.open = WireReportOpen(counts)
        report.erasure.overdue = counts.overdueCount
        report.holds.users = counts.heldUserCount
        let holds = try await parts.state.pauses().holds
        report.holds.targets = Dictionary(grouping: holds, by: \.target).compactMap { target, all in
            all.map(\.since).min().map {
                WireReportHold(target: target.rawValue, count: all.count, since: $0)
            }
        }.sorted { $0.target < $1.target }
    }
}
