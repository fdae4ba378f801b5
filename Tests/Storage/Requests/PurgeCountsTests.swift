import Lifecycle
import Testing

@testable import Storage

@Suite("Counts of purges in the state") struct PurgeCountsTests {
    /// Texts that look like other actions, like JSON, or like nothing.
    private static let texts = [
        "still has other owners", "delete", ", undated rows", "x in other spellings", "a via b.c",
        "null", "", " ", "[\"t\",1]", "\\\"\u{0}\n\u{2028}", "\u{e4}\u{1f5d1}",
    ]

    private static var actions: [PurgeCounts.Action] {
        var all: [PurgeCounts.Action] = [.held, .shared, .notLookedFor, .withoutKeys, .accepted]
        all += ReceiptSentence.allCases.map { .passedOver($0) }
        for text in texts {
            all += [.unsearched(text), .unreached(text, via: "b.c"), .unreached("a", via: text)]
            for verb in PlanItem.Action.allCases {
                let details: [PurgeCounts.Details] = [
                    .init(), .init(parent: text), .init(reason: text),
                    .init(part: text), .init(parent: text, reason: text, part: text),
                    .init(hasNoTimestamps: true),
                ]
                for rows in PurgeCounts.Details.Rows.allCases {
                    all += details.map { PurgeCounts.Action.rule(verb, $0).of(rows) }
                }
            }
        }
        return all
    }

    @Test func `each action is read back as it was`() throws {
        let entries = Self.actions.map { PurgeCounts.Entry(name: "t", action: $0, rowCount: 1) }
        let counts = PurgeCounts(entries: entries)
        #expect(try PurgeCounts(columnText: counts.columnText) == counts)
        #expect(Set(Self.actions.map(\.code)) == Set(PurgeCounts.Action.Code.allCases))
    }

    @Test(arguments: [
        #"[["t","mask",1,0]]"#, #"[["t","keep: tax",1,0]]"#, #"[["t","keep",1,0,"tax"]]"#,
        #"[["t","keep",1,0,null,"tax",null,false,"some"]]"#, #"[["t","unreached",1,0,"a"]]"#,
        #"[["t","unsearched",1,0]]"#, #"[["t","passed_over",1,0,"other"]]"#, #"[["at_least"]]"#,
    ])
    func `no other text is an action`(text: String) {
        #expect(throws: StorageError.self) { try PurgeCounts(columnText: text) }
    }

    @Test func `counts with every kind of character are read back as they were`() throws {
        var counts = PurgeCounts(
            entries: [
                .init(name: "a\"\\\u{1}\n", action: .rule(.delete), rowCount: 1),
                .init(
                    name: "plain",
                    action: .rule(.anonymize, .init(reason: "\u{e4}")),
                    rowCount: 2,
                    newerCount: 3
                ),
            ],
            residualCopies: [
                .init(text: "\"copies\"", until: nil), .init(text: "b", until: .distantPast),
                .init(.phrase("log", name: nil), until: nil),
                .init(.phrase("lock", name: "uploads"), until: .distantPast),
            ]
        )
        #expect(try PurgeCounts(columnText: counts.columnText) == counts)
        #expect(PurgeCounts().columnText == PurgeCounts.emptyColumnText)
        for (isPassOpen, isAtLeast) in [(true, false), (true, true), (false, true)] {
            counts.restore(isPassOpen: isPassOpen, isAtLeast: isAtLeast)
            #expect(try PurgeCounts(columnText: counts.columnText) == counts)
            var empty = PurgeCounts()
            empty.restore(isPassOpen: isPassOpen, isAtLeast: isAtLeast)
            #expect(try PurgeCounts(columnText: empty.columnText) == empty)
        }
    }
}
