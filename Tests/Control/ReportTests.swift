import Encoding
import Lifecycle
import Testing

@testable import Control
@testable import expungectl

extension ControlSuite {
    /// The report of a month, as the program prints it.
    @Suite struct ReportTests {
        private static func run(_ words: String...) async throws -> ProgramRun.Outcome {
            let backend = FakeBackend(expecting: [.showReport])
            return try await TestServer.run(backend) { server in
                try await ProgramRun.run(
                    ["report", "--month", "2026-11"] + words,
                    socket: server.controlPath
                )
            }
        }

        @Test func `a terminal gets all of it as tables`() async throws {
            let outcome = try await Self.run("--time-zone", "UTC")
            #expect(outcome.code == 0 && outcome.err.isEmpty)
            for text in [
                "Account deletions in November 2026 (UTC)\nThe month is not over",
                "Account deletion  3            120        118        1          0       4",
                "\nMerged: the user's deletion does what the request asked for.",
                "revoking tokens  2", "waits: on hold   2",
                "95th percentile           3 min 20 s", "after their deadline      1 of 118",
                "on hold  2026-11-21  2026-11-21\nand 1 more", "apple     token dead  3",
                "app-db   bills    12         48     kept: § 147 AO",
                "Analytics Inc.  dpo@a.example  statistics",
            ] { #expect(outcome.out.contains(text), "\(text) in:\n\(outcome.out)") }
        }

        @Test func `a section without content is a sentence, the same on the page`() throws {
            let month = try #require(CalendarMonth("2026-11"))
            let report = WireReport(
                month: month,
                timeZone: "UTC",
                span: month.span(in: .utc),
                generatedAt: Samples.time
            )
            let (text, page) = (MonthReport.full(report), ReportPage(report).html)
            for sentence in [
                "No request of the month or of an earlier one is open.",
                "No completed request had an identity at a provider.",
                "Nothing that the deletions of the month found was kept.",
                "No hold is in force now.",
            ] {
                #expect(text.contains("\n\n" + sentence), "\(sentence) in:\n\(text)")
                #expect(page.contains("<p>\(sentence)</p>"), "\(sentence)")
            }
            for table in ["OPEN NOW  ", "WAITING", "PROVIDER", "KEPT IN", "HOLDS NOW"] {
                #expect(!text.contains(table), "\(table) in:\n\(text)")
            }
        }

        @Test func `every form counts the same under the same words`() async throws {
            let words = [
                "open before", "submitted", "completed", "cancelled", "merged", "open now",
            ]
            let text = try await Self.run("--time-zone", "UTC").out
            let head = try #require(text.split(separator: "\n").first { $0.hasPrefix("REQUESTS") })
            let page = try await Self.run("--html", "--time-zone", "UTC").out.lowercased()
            for word in words {
                #expect(head.lowercased().contains("  \(word)"), "\(word) in \(head)")
                #expect(page.contains("class=\"n\">\(word)</th>"), "\(word)")
            }
            let codes = words.dropLast().map { $0.replacing(" ", with: "_") } + ["open_after"]
            let lines = try await Self.run("--csv").out
            let json = try await Self.run("--json").out
            for code in codes {
                #expect(lines.contains("requests,delete_account,\(code),"), "\(code)")
                #expect(json.contains("\"\(code)\" : "), "\(code)")
            }
            for form in [text, page, lines, json] {
                for word in ["absorbed", "taken over"] { #expect(!form.contains(word)) }
            }
        }

        @Test func `JSON is the answer of the service`() async throws {
            let outcome = try await Self.run("--json", "--time-zone", "Europe/Berlin")
            let text = outcome.out.utf8
            let report = try TypedJSON.value(WireReport.self, from: text, .snakeCase)
            let month = try #require(CalendarMonth("2026-11"))
            #expect(report == Samples.report(of: month, in: "Europe/Berlin"))
        }

        @Test func `lines for a spreadsheet hold no formula`() async throws {
            let outcome = try await Self.run("--csv")
            let lines = outcome.out.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.first == "section,item,measure,value")
            #expect(lines.contains { $0 == "requests,delete_account,submitted,120" })
            let reason = "\"kept: § 147 AO, \"\"ten\"\" years: rows\""
            #expect(lines.contains { $0 == "kept,app-db bills,\(reason),48" })
            #expect(lines.contains { $0 == "copies,uploads,'=soft-deleted objects,9" })
        }

        @Test(arguments: [
            ("a,\u{301}b", "\"a,\u{301}b\""), ("a\"\u{301}b", "\"a\"\"\u{301}b\""),
            ("=\u{301}1", "'=\u{301}1"), ("a\nb", "\"a\nb\""), ("a\rb", "\"a\rb\""),
            ("a\n\u{301}", "\"a\n\u{301}\""), ("\r\n=1", "\"'\r\n=1\""), ("é", "é"),
        ])
        func `a mark behind a separator hides none`(text: String, field: String) {
            #expect(Array(ReportCSV.field(text).utf8) == Array(field.utf8))
        }

        @Test func `the page loads nothing and escapes what it quotes`() async throws {
            let page = try await Self.run("--html", "--time-zone", "UTC").out
            #expect(page.contains("default-src 'none'") && page.contains("Example &lt;Apps&gt;"))
            for text in ["<script", "http://", "https://", "style=\"", "<img", "href="] {
                #expect(!page.contains(text), "\(text)")
            }
            #expect(page.split(separator: "<svg").count == 4)
            for tag in ["table", "svg", "h2", "tr", "td", "th", "p", "div", "span", "code"] {
                let opened = page.split(separator: "<\(tag)", omittingEmptySubsequences: false)
                    .dropFirst().count { $0.first == " " || $0.first == ">" }
                let closed = page.split(separator: "</\(tag)>", omittingEmptySubsequences: false)
                #expect(opened == closed.count - 1, "\(tag)")
            }
        }

        @Test(arguments: [
            ["--month", "2026-13"], ["--html", "--csv"],
            ["--time-zone", "../etc/passwd"], ["--time-zone", "Mars/Phobos"],
        ])
        func `wrong usage is told`(_ words: [String]) async throws {
            let outcome = try await ProgramRun.run(["report"] + words)
            #expect(outcome.code == 64 && outcome.err.hasPrefix("error: "), "\(outcome.err)")
        }

        @Test(arguments: ["time_zone=..%2Fetc", "time_zone=", "zone=UTC", "time_zone=UTC&x=1"])
        func `a query of another form is refused`(_ query: String) {
            let problem = #expect(throws: ControlProblem.self) {
                try ReportQuery(query: query[...])
            }
            #expect(problem?.code == .malformedQuery)
        }

        @Test func `viewers get no contact`() throws {
            let month = try #require(CalendarMonth("2026-11"))
            let report = Samples.report(of: month, in: "UTC").forViewers
            #expect(report.controller?.contact == nil && report.recipients[0].contact == nil)
            #expect(report.controller?.name != nil && report.recipients[0].purpose != nil)
        }

        @Test func `what is missing is told above the numbers`() throws {
            let month = try #require(CalendarMonth("2026-11"))
            var report = Samples.report(of: month, in: "UTC")
            #expect(!ReportPage(report).html.contains("class=\"warning\""))
            report.gaps.requests = 7
            #expect(
                ReportPage(report).html.contains(
                    "7 requests that ended in this month are no longer on record. The numbers"
                )
            )
        }

        @Test(arguments: [
            ([0, 0], "0 1"), ([3, 1], "0 1 2 3"), ([4, 0], "0 1 2 3 4"), ([9, 5], "0 5 10"),
            ([120], "0 50 100 150"), ([1000], "0 500 1000"), ([7001], "0 2000 4000 6000 8000"),
        ])
        func `the grid of a chart has round numbers and room for all bars`(
            values: [Int],
            lines: String
        ) {
            let chart = SVGChart(
                title: "t",
                labels: values.map { "l\($0)" },
                series: [.init(name: "n", values: values)]
            )
            let labels = chart.svg.split(separator: "text-anchor=\"end\">").dropFirst()
                .map { $0.prefix { $0 != "<" } }
            #expect(labels.joined(separator: " ") == lines)
        }

        @Test(
            arguments: [
                (nil, "–"), (0, "0 s"), (420, "420 ms"), (59_999, "59 s"), (200_000, "3 min 20 s"),
                (86_405_000, "1 d"), (90_000_000, "1 d 1 h"), (2_592_000_000, "30 d"),
            ] as [(Int64?, String)]
        )
        func `a duration has at most two units`(milliseconds: Int64?, text: String) {
            #expect(ReportText.duration(milliseconds) == text)
        }
    }
}
