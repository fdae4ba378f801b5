import Engine
import Lifecycle
import Testing

@testable import Daemon

struct CoverageReportTests {
    private static func open(_ name: String, _ reason: String = "named so") -> CoverageFinding {
        CoverageFinding(.open, name, reason)
    }

    private static func unread(_ name: String) -> CoverageFinding {
        CoverageFinding(.unread, name, "locked")
    }

    private static let covered = CoverageFinding(.covered, "posts.author_id", "named so")
    private static let part = CoverageFinding(.sampled, "users", "20 of 30")
    private static let rule =
        "rows of 'items' can stop it; table = \"items\", column = \"o\", via = \"orders.id\""

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var found: [CoverageFinding] = []
        var advice: [String] = []
        /// What keeps deletions from ending.
        var blocking: [CoverageFinding] = []
        var reported: [CoverageFinding] = []
        var unmapped: [CoverageFinding] = []
        var sampled: [CoverageFinding] = []
        /// Of the advice.
        var left: [String] = []
    }

    private static let cases = [
        Case(testDescription: "nothing"),
        Case(
            testDescription: "what a rule deals with is not reported",
            found: [covered, open("a.b"), part],
            unmapped: [open("a.b")],
            sampled: [part]
        ),
        Case(
            testDescription: "what an earlier store reports is left to it",
            found: [open("a.b", "refers to 'users'"), open("c.d"), part],
            reported: [open("a.b", "named so"), part],
            unmapped: [open("c.d")]
        ),
        Case(
            testDescription: "what an earlier store has a rule for, or sampled, is still reported",
            found: [open("posts.author_id"), open("users")],
            reported: [covered, part],
            unmapped: [open("posts.author_id"), open("users")]
        ),
        Case(
            testDescription: "a column that advice names is one finding, with its rule",
            found: [open("items.o"), open("items.u")],
            advice: ["no index", rule, "again: " + rule],
            unmapped: [open("items.o", rule), open("items.u")],
            left: ["no index"]
        ),
        Case(
            testDescription: "advice stays where another store reports the column, or none does",
            found: [open("items.o")],
            advice: [rule],
            reported: [open("items.o")],
            left: [rule]
        ),
        Case(
            testDescription: "what keeps deletions from ending is reported with its rule",
            found: [open("items.o"), open("items.u")],
            advice: ["a circle; " + rule],
            blocking: [open("items.o", rule)],
            unmapped: [open("items.o", rule), open("items.u")]
        ),
        Case(
            testDescription: "what the check itself may not see was not searched, either",
            found: [unread("a")],
            blocking: [unread("b.*")],
            sampled: [unread("b.*"), unread("a")]
        ),
        Case(
            testDescription: "its rule is advice where an earlier store reports the column",
            found: [open("items.o")],
            advice: ["no index"],
            blocking: [open("items.o", rule)],
            reported: [open("items.o")],
            left: [rule, "no index"]
        ),
    ]

    @Test(arguments: cases)
    func `each finding is reported once`(_ example: Case) {
        let report = CoverageReport(
            example.found,
            StoreFindings(
                found: [],
                advice: example.advice.map {
                    StoreAdvice($0, for: $0.hasSuffix(Self.rule) ? "items.o" : nil)
                },
                uncovered: example.blocking
            ),
            reported: example.reported
        )
        #expect(report.unmapped == example.unmapped)
        #expect(report.sampled == example.sampled)
        #expect(report.advice == example.left)
    }

    @Test func `what is more than a person reads is counted`() {
        let found = (1...1100).map { Self.open("t.c\($0)") }
        let report = CoverageReport(found, StoreFindings(problems: []))
        #expect(report.unmapped.count == 1100 && report.questions.count == 1001)
        #expect(report.questions.last?.name == "100 more")
    }

    @Test func `columns with one question stay apart, and are asked once`() {
        let asked = { (name: String, question: CoverageQuestion) in
            CoverageFinding(.open, name, "of its own", question)
        }
        let few = [asked("a.x", .fewNumbers), asked("b.y", .fewNumbers)]
        let tenants = [asked("a.t", .sameColumn("t")), asked("b.t", .sameColumn("t"))]
        let others = [asked("a.u", .sameColumn("u")), Self.open("c.z")]
        let report = CoverageReport(few + tenants + others, StoreFindings(problems: []))
        #expect(report.unmapped == few + tenants + others)
        #expect(report.questions.map(\.name) == ["a.t, b.t", "a.u", "c.z", "a.x, b.y"])
        #expect(
            report.questions.map(\.reason) == [
                CoverageQuestion.sameColumn("t").reason, "of its own", "named so",
                CoverageQuestion.fewNumbers.reason,
            ]
        )
    }
}
