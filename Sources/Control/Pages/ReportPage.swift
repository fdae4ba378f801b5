import Lifecycle

/// A report as a page to print or send: one file, no script, nothing from elsewhere.
package struct ReportPage: Sendable {
    let report: WireReport
    let zone: TimeZoneRules

    /// Times are in the zone of the report, or in UTC where this machine does not know it.
    package init(_ report: WireReport) {
        self.report = report
        zone = TimeZoneFile.rules(named: report.timeZone) ?? .utc
    }

    package var html: String {
        let month = ReportText.name(report.month)
        return HTMLText.page(
            title: "Account deletions, \(month)",
            style: Self.style,
            body: [
                "<h1>Account deletions in \(month)</h1>", facts, gaps, requests, erasure, open,
                verdicts, kept, recipients, year,
            ]
        )
    }

    private static let style = """
        body { font: 10.5pt/1.4 sans-serif; max-width: 52em; margin: 2em auto; padding: 0 1em;
          color: #111 }
        h1 { font-size: 17pt; margin: 0 0 .6em } h2 { font-size: 12pt; margin: 1.4em 0 .3em }
        table { border-collapse: collapse; width: 100%; margin: .3em 0 .8em }
        caption { text-align: left; font-weight: 600; padding: .3em 0 }
        th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0 }
        tr { border-bottom: 1px solid #bbb } th { font-weight: 600 }
        tbody th { font-weight: normal } .facts th { width: 17em; font-weight: 600 }
        td, th, p { overflow-wrap: break-word } p { margin: .4em 0 }
        .n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
        .n:last-child { padding-right: 0 } code { font-size: 9pt; overflow-wrap: anywhere }
        .warning { border: 2px solid #8f1414; padding: .5em .9em; font-weight: bold }
        .bad { font-weight: bold; color: #8f1414 } .note { font-size: 9.5pt }
        .chart { display: block; width: 100%; height: auto; margin: .4em 0 }
        .scroll { overflow-x: auto }
        @media print {
        body { margin: 0; padding: 0; max-width: none; font: 9pt/1.3 sans-serif }
        h2 { margin-top: 1em; break-after: avoid } .scroll { overflow: visible }
        td, th { padding-top: .15em; padding-bottom: .15em } code { font-size: 8pt }
        tr, svg, .warning, figure { break-inside: avoid }
        .chart { max-height: 42mm; width: auto; max-width: 100% }
        caption { break-after: avoid }
        }
        @page { size: A4; margin: 14mm 16mm }
        """

    private var facts: String {
        var rows: [(String, String)] = []
        if let name = report.controller?.name { rows.append(("Responsible", text(name))) }
        if let contact = report.controller?.contact { rows.append(("Contact", text(contact))) }
        rows.append(("Month", "\(time(report.from)) to \(time(report.until))"))
        rows.append(("Time zone", text(report.timeZone)))
        rows.append(("Counted", time(report.generatedAt)))
        let note =
            report.isOver
            ? "" : "<p>The month is not over: these are the numbers so far.</p>\n"
        return HTMLText.facts(rows) + note
    }

    private var gaps: String {
        let sentences = ReportText.gaps(report.gaps)
        guard !sentences.isEmpty else { return "" }
        return "<p class=\"warning\">\(text(sentences.joined(separator: " ")))</p>\n"
    }

    // MARK: Sections

    private var requests: String {
        let rows = report.requests.map { requests in
            [
                text(ReportText.kind(requests.kind)), "\(requests.openBefore)",
                "\(requests.submitted)", "\(requests.completed)", "\(requests.cancelled)",
                "\(requests.merged)", "\(requests.openAfter)",
            ]
        }
        let chart = SVGChart(
            title: "Requests by day",
            labels: report.days.map { String(Int($0.day.suffix(2)) ?? 0) },
            series: [
                .init(name: "submitted", values: report.days.map(\.submitted)),
                .init(name: "completed", values: report.days.map(\.completed)),
            ]
        )
        let head = [
            "Request", "Open before", "Submitted", "Completed", "Cancelled", "Merged",
            report.isOver ? "Open after" : "Open now",
        ]
        return """
            <h2>Requests</h2>
            \(table(head, rows, numbersFrom: 1))\
            <p class="note">\(text(ReportText.merged))</p>
            \(chart.svg)
            """
    }

    private var erasure: String {
        let erasure = report.erasure
        let chart = SVGChart(
            title: "Deletions by the time they took",
            labels: ReportText.spans(erasure.spans),
            series: [.init(name: "deletions", values: erasure.spans.map(\.count))]
        )
        let late = "\(erasure.late)"
        let overdue = "\(erasure.overdue)"
        let rows: [(String, String)] = [
            ("Deadline", ReportText.duration(erasure.deadlineMilliseconds)),
            ("Deletions completed", "\(erasure.completed)"),
            ("Median", ReportText.duration(erasure.medianMilliseconds)),
            ("95th percentile", ReportText.duration(erasure.percentile95Milliseconds)),
            ("Worst", ReportText.duration(erasure.worstMilliseconds)),
            ("Completed after their deadline", erasure.late == 0 ? late : bad(late)),
            ("Open and past their deadline", erasure.overdue == 0 ? overdue : bad(overdue)),
        ]
        return """
            <h2>Time to erasure</h2>
            \(HTMLText.facts(rows))\(erasure.completed == 0 ? "" : chart.svg)
            """
    }

    private var open: String {
        let open = report.open
        guard !open.states.isEmpty else {
            return "<h2>Open requests</h2>\n<p>\(ReportText.nothingOpen)</p>\n"
        }
        let counts = ReportText.open(open).map { [text($0.name), "\($0.count)"] }
        let rows = open.waiting.map { row in
            let deadline = time(row.deadlineAt)
            return [
                "<code>\(row.requestID)</code>", text(ReportText.kind(row.kind)),
                text(row.reason.map(ReportText.reason) ?? ReportText.state("\(row.state)")),
                time(row.since),
                row.deadlineAt <= report.generatedAt ? bad(deadline) : deadline,
            ]
        }
        let rest = open.waitingCount - open.waiting.count
        return """
            <h2>Open requests</h2>
            <p>Now, of those that were submitted before the end of the month.</p>
            \(table(["State", "Requests"], counts, numbersFrom: 1))\
            \(rows.isEmpty ? "" : table(
                ["Waiting or late", "Request", "Why", "Since", "Deadline"], rows))\
            \(rest > 0 ? "<p>And \(rest) more with later deadlines.</p>\n" : "")
            """
    }

    private var verdicts: String {
        let names = Verdict.allCases.map(\.rawValue).filter { name in
            report.verdicts.contains { $0.verdicts[name] != nil }
        }
        let rows = report.verdicts.map { row in
            [text(row.provider), "\(row.total)"] + names.map { "\(row.verdicts[$0] ?? 0)" }
        }
        let body =
            rows.isEmpty
            ? "<p>\(ReportText.noVerdict)</p>\n"
            : table(
                ["Provider", "Identities"] + names.map(ReportText.verdict),
                rows,
                numbersFrom: 1
            )
        return "<h2>Revocations at providers</h2>\n" + body
    }

    private var kept: String {
        let rows = report.kept.map { row in
            [
                text(row.store), text(row.table), text(row.reason), "\(row.requests)",
                "\(row.rows)",
            ]
        }
        let copies = report.copies.map { row in
            let until = row.until.map(time) ?? ""
            return [
                text(row.store), text(row.what),
                row.isEndKnown ? until : until + (until.isEmpty ? "unknown" : ", some unknown"),
                "\(row.requests)",
            ]
        }
        let holds = report.holds.stores.map {
            "\(text($0.store)): \($0.count), the oldest since \(time($0.since))."
        }
        let users = report.holds.users == 0 ? "" : " Users on hold: \(report.holds.users)."
        let head = ["Store", "Content", "Why", "Deletions", "Count"]
        return """
            <h2>Data kept, and why</h2>
            \(rows.isEmpty
                ? "<p>\(ReportText.nothingKept)</p>\n"
                : table(head, rows, numbersFrom: 3))\
            \(copies.isEmpty
                ? "" : table(
                    ["Store", "Residual copies", "Until", "Deletions"], copies, numbersFrom: 3))\
            <p>\(holds.isEmpty && users.isEmpty
                ? ReportText.noHold
                : "Holds in force now: " + holds.joined(separator: " ") + users)</p>
            """
    }

    private var recipients: String {
        guard !report.recipients.isEmpty else { return "" }
        let rows = report.recipients.map { recipient in
            [text(recipient.name), text(recipient.contact ?? ""), text(recipient.purpose ?? "")]
        }
        return """
            <h2>Recipients to inform</h2>
            <p>They have received data of users (GDPR article 19). Inform them of the \
            \(report.erasure.completed) erasures of the month.</p>
            \(table(["Recipient", "Contact", "Purpose"], rows))
            """
    }

    private var year: String {
        let chart = SVGChart(
            title: "Requests by month",
            labels: report.months.map { "\($0.month)" },
            series: [
                .init(name: "submitted", values: report.months.map(\.submitted)),
                .init(name: "completed", values: report.months.map(\.completed)),
            ],
            style: .line
        )
        return "<h2>The last twelve months</h2>\n\(chart.svg)\n"
    }
}

// MARK: - Pieces

extension ReportPage {
    private func text(_ text: String) -> String { HTMLText.escaped(text) }

    private func time(_ time: WallTime) -> String { zone.text(time) }

    private func bad(_ html: String) -> String { "<span class=\"bad\">\(html)</span>" }

    private func table(
        _ head: [String],
        _ rows: [[String]],
        numbersFrom first: Int = .max
    ) -> String {
        let numbers = Set(min(first, head.count)..<head.count)
        return """
            <div class="scroll"><table>
            \(HTMLText.grid(head.map(HTMLText.escaped), rows, numbers: numbers))
            </table></div>

            """
    }
}
