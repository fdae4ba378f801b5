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

    private static func sum(_ days: [[RequestKind: PeriodTotals]]) -> [RequestKind: PeriodTotals] {
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
        report.holds.stores = Dictionary(grouping: holds, by: \.store).compactMap { store, all in
            all.map(\.since).min().map {
                WireReportHold(store: store.rawValue, count: all.count, since: $0)
            }
        }.sorted { $0.store < $1.store }
    }

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

/// What the deletions of a report left in the stores, by reason.
struct LeftData {
    /// Where something was left, and why; of copies, `reason` is what keeps them.
    private struct Place: Hashable, Comparable {
        let store: String
        let table: String
        let reason: String

        static func < (left: Place, right: Place) -> Bool {
            (left.store, left.table, left.reason) < (right.store, right.table, right.reason)
        }
    }

    /// Of the requests so far, by their ids.
    var scopes: [Int?: ErasureScope] = [:]
    private var keptByPlace: [Place: WireReportKept] = [:]
    private var copiesByPlace: [Place: WireReportCopies] = [:]

    var kept: [WireReportKept] { keptByPlace.sorted { $0.key < $1.key }.map(\.value) }

    var copies: [WireReportCopies] { copiesByPlace.sorted { $0.key < $1.key }.map(\.value) }

    /// ``scopes`` has the group's.
    mutating func add(_ group: PurgeGroup) {
        guard let scope = scopes[group.scope] else { return }
        var rows: [Place: Int] = [:]
        for data in KeptData.find(in: group.work, scope) where data.rowCount > 0 {
            let place = Place(
                store: data.store.rawValue,
                table: data.table,
                reason: data.reason.text
            )
            rows[place, default: 0] += data.rowCount
        }
        if !group.work.isLookedFor {
            let reason = group.work.counts.whyNotLookedFor
            rows[Place(store: group.work.store.rawValue, table: "", reason: reason)] = 0
        }
        for (place, count) in rows { add(count, at: place, of: group.requestCount) }
        for copy in group.work.counts.residualCopies { add(copy, of: group) }
    }

    private mutating func add(_ rowCount: Int, at place: Place, of requestCount: Int) {
        var kept =
            keptByPlace[place]
            ?? WireReportKept(
                store: place.store,
                table: place.table,
                reason: place.reason,
                requests: 0,
                rows: 0
            )
        kept.requests += requestCount
        kept.rows += rowCount * requestCount
        keptByPlace[place] = kept
    }

    private mutating func add(_ copy: PurgeCounts.ResidualCopies, of group: PurgeGroup) {
        let place = Place(
            store: group.work.store.rawValue,
            table: "",
            reason: ResidualTexts.text(of: copy)
        )
        var copies =
            copiesByPlace[place] ?? WireReportCopies(store: place.store, what: place.reason)
        copies.requests += group.requestCount
        copies.isEndKnown = copies.isEndKnown && copy.until != nil
        if let until = copy.until { copies.until = max(copies.until ?? until, until) }
        copiesByPlace[place] = copies
    }
}

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
            let span = WireReportSpan(upToMilliseconds: bound.milliseconds, count: upTo - counted)
            spans.append(span)
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
