import Control
import Lifecycle

enum MonthReport {
    /// All of it; times are in the zone of the report.
    static func full(_ report: WireReport) -> String {
        let zone = TimeZoneFile.rules(named: report.timeZone) ?? .utc
        let head = [
            "Account deletions in \(ReportText.name(report.month)) (\(report.timeZone))",
            report.isOver
                ? nil : "The month is not over: these are the numbers so far.",
        ]
        let parts = [
            head.compactMap(\.self).joined(separator: "\n"),
            ReportText.gaps(report.gaps).joined(separator: " "),
            requests(report), erasure(report.erasure), open(report, zone), verdicts(report),
            kept(report), copies(report, zone), holds(report.holds, zone), recipients(report),
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private static func requests(_ report: WireReport) -> String {
        var table = Table([
            "REQUESTS", "OPEN BEFORE", "SUBMITTED", "COMPLETED", "CANCELLED", "MERGED",
            report.isOver ? "OPEN AFTER" : "OPEN NOW",
        ])
        for row in report.requests {
            let counts = [
                row.openBefore, row.submitted, row.completed, row.cancelled, row.merged,
                row.openAfter,
            ]
            table.add([ReportText.kind(row.kind)] + counts.map { "\($0)" })
        }
        return table.text + "\n" + ReportText.merged
    }

    private static func erasure(_ erasure: WireReportErasure) -> String {
        var table = Table("TIME TO ERASURE", "")
        table.add("deadline", ReportText.duration(erasure.deadlineMilliseconds))
        table.add("median", ReportText.duration(erasure.medianMilliseconds))
        table.add("95th percentile", ReportText.duration(erasure.percentile95Milliseconds))
        table.add("worst", ReportText.duration(erasure.worstMilliseconds))
        table.add("after their deadline", "\(erasure.late) of \(erasure.completed)")
        table.add("open past their deadline", "\(erasure.overdue)")
        return table.text
    }

    private static func open(_ report: WireReport, _ zone: TimeZoneRules) -> String {
        guard !report.open.states.isEmpty else { return ReportText.nothingOpen }
        var counts = Table("OPEN NOW", "REQUESTS")
        for (name, count) in ReportText.open(report.open) { counts.add(name, "\(count)") }
        guard !report.open.waiting.isEmpty else { return counts.text }
        var table = Table("WAITING OR LATE", "WHY", "SINCE", "DEADLINE")
        for row in report.open.waiting {
            let why = row.reason.map(ReportText.reason) ?? ReportText.state("\(row.state)")
            table.add("\(row.requestID)", why, day(row.since, zone), day(row.deadlineAt, zone))
        }
        let rest = report.open.waitingCount - report.open.waiting.count
        let more = rest > 0 ? "\nand \(rest) more with later deadlines" : ""
        return counts.text + "\n\n" + table.text + more
    }

    private static func verdicts(_ report: WireReport) -> String {
        guard !report.verdicts.isEmpty else { return ReportText.noVerdict }
        var table = Table("PROVIDER", "VERDICT", "IDENTITIES")
        for row in report.verdicts {
            for (name, count) in ReportText.sorted(row.verdicts) {
                table.add(row.provider, ReportText.verdict(name), "\(count)")
            }
        }
        return table.text
    }

    private static func kept(_ report: WireReport) -> String {
        guard !report.kept.isEmpty else { return ReportText.nothingKept }
        var table = Table("KEPT IN", "CONTENT", "DELETIONS", "COUNT", "WHY")
        for row in report.kept {
            table.add(row.store, row.table, "\(row.requests)", "\(row.rows)", row.reason)
        }
        return table.text
    }

    private static func copies(_ report: WireReport, _ zone: TimeZoneRules) -> String {
        guard !report.copies.isEmpty else { return "" }
        var table = Table("COPIES IN", "DELETIONS", "UNTIL", "WHAT")
        for row in report.copies {
            let until = row.isEndKnown ? row.until.map { day($0, zone) } : "unknown"
            table.add(row.store, "\(row.requests)", until, row.what)
        }
        return table.text
    }

    private static func holds(_ holds: WireReportHolds, _ zone: TimeZoneRules) -> String {
        guard !holds.stores.isEmpty || holds.users > 0 else { return ReportText.noHold }
        var table = Table("HOLDS NOW", "COUNT", "SINCE")
        for row in holds.stores { table.add(row.store, "\(row.count)", day(row.since, zone)) }
        if holds.users > 0 { table.add("users", "\(holds.users)", nil) }
        return table.text
    }

    private static func recipients(_ report: WireReport) -> String {
        guard !report.recipients.isEmpty else { return "" }
        var table = Table("INFORM", "CONTACT", "PURPOSE")
        for row in report.recipients { table.add(row.name, row.contact, row.purpose) }
        return table.text
    }

    private static func day(_ time: WallTime, _ zone: TimeZoneRules) -> String {
        String(zone.text(time).prefix(10))
    }
}

/// A report as lines of four fields (RFC 4180), for a spreadsheet.
struct ReportCSV {
    private let report: WireReport

    init(_ report: WireReport) { self.report = report }

    /// Without a line break at the end.
    var text: String {
        ([["section", "item", "measure", "value"]] + head + requests + ends + open + left)
            .map { $0.map(Self.field).joined(separator: ",") }.joined(separator: "\r\n")
    }

    private var head: [[String]] {
        [
            ["report", "", "month", "\(report.month)"],
            ["report", "", "time_zone", report.timeZone],
            ["report", "", "from", report.from.rfc3339],
            ["report", "", "until", report.until.rfc3339],
            ["report", "", "generated_at", report.generatedAt.rfc3339],
            ["gaps", "", "requests", "\(report.gaps.requests)"],
            ["gaps", "", "erasures", "\(report.gaps.erasures)"],
        ]
    }

    private var requests: [[String]] {
        let kinds = report.requests.flatMap { row in
            [
                ("open_before", row.openBefore), ("submitted", row.submitted),
                ("completed", row.completed), ("cancelled", row.cancelled),
                ("merged", row.merged), ("open_after", row.openAfter),
            ].map { ["requests", "\(row.kind)", $0.0, "\($0.1)"] }
        }
        let days = report.days.flatMap { row in
            [
                ["days", row.day, "submitted", "\(row.submitted)"],
                ["days", row.day, "completed", "\(row.completed)"],
            ]
        }
        let months = report.months.flatMap { row in
            [
                ("submitted", row.submitted), ("completed", row.completed),
                ("cancelled", row.cancelled),
            ].map { ["months", "\(row.month)", $0.0, "\($0.1)"] }
        }
        return kinds + days + months
    }

    private var ends: [[String]] {
        let erasure = report.erasure
        let facts: [(String, Int64?)] = [
            ("completed", Int64(erasure.completed)), ("deadline_ms", erasure.deadlineMilliseconds),
            ("median_ms", erasure.medianMilliseconds), ("p95_ms", erasure.percentile95Milliseconds),
            ("worst_ms", erasure.worstMilliseconds), ("late", Int64(erasure.late)),
            ("overdue", Int64(erasure.overdue)),
        ]
        return facts.map { ["erasure", "", $0.0, $0.1.map { "\($0)" } ?? ""] }
            + zip(ReportText.spans(erasure.spans), erasure.spans).map {
                ["erasure", $0, "deletions", "\($1.count)"]
            }
            + report.verdicts.flatMap { row in
                ReportText.sorted(row.verdicts).map {
                    ["verdicts", row.provider, $0.name, "\($0.count)"]
                }
            }
    }

    private var open: [[String]] {
        ReportText.sorted(report.open.states).map { ["open", $0.name, "requests", "\($0.count)"] }
            + ReportText.sorted(report.open.parked).map {
                ["parked", $0.name, "requests", "\($0.count)"]
            }
            + report.open.waiting.flatMap { row in
                [
                    ("kind", "\(row.kind)"), ("reason", row.reason ?? "\(row.state)"),
                    ("since", row.since.rfc3339), ("deadline_at", row.deadlineAt.rfc3339),
                ].map { ["waiting", "\(row.requestID)", $0.0, $0.1] }
            }
    }

    private var left: [[String]] {
        report.kept.flatMap { row in
            let item = row.table.isEmpty ? row.store : "\(row.store) \(row.table)"
            return [
                ["kept", item, "\(row.reason): deletions", "\(row.requests)"],
                ["kept", item, "\(row.reason): rows", "\(row.rows)"],
            ]
        }
            + report.copies.map { ["copies", $0.store, $0.what, "\($0.requests)"] }
            + report.holds.stores.map { ["holds", $0.store, "holds", "\($0.count)"] }
            + [["holds", "", "users", "\(report.holds.users)"]]
            + report.recipients.map {
                ["recipients", $0.name, $0.purpose ?? "", $0.contact ?? ""]
            }
    }

    /// A text that a spreadsheet would take for a formula gets an apostrophe before it.
    ///
    /// Bytes decide: a comma with a combining mark is another character, and still a separator.
    static func field(_ text: String) -> String {
        let isFormula = text.utf8.first.map { "=+-@\t\r\n".utf8.contains($0) } ?? false
        let text = isFormula ? "'" + text : text
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        let quote = UInt8(ascii: "\"")
        let doubled = text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
        return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
    }
}
