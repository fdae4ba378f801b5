import Control
import Lifecycle

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
            let item = row.table.isEmpty ? row.target : "\(row.target) \(row.table)"
            return [
                ["kept", item, "\(row.reason): deletions", "\(row.requests)"],
                ["kept", item, "\(row.reason): rows", "\(row.rows)"],
            ]
        }
            + report.copies.map { ["copies", $0.target, $0.what, "\($0.requests)"] }
            + report.holds.targets.map { ["holds", $0.target, "holds", "\($0.count)"] }
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
