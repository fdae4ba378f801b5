import Lifecycle
import Testing

@testable import Storage

@Suite("Counts of purges in the state") struct PurgeCountsTests {
    @Test func `each action is read back as it was, and no other text is one`() throws {
        let actions: [PurgeCounts.Action] =
            [
                .held, .shared, .notLookedFor, .withoutKeys, .unreached("a via b.c"), .accepted,
                .rule(.delete), .rule(.delete, " by cascade from t"), .rule(.keep, ": tax"),
            ] + ReceiptSentence.allCases.map { .passedOver($0) }
        let entries = actions.map { PurgeCounts.Entry(name: "t", action: $0, rowCount: 1) }
        let counts = PurgeCounts(entries: entries)
        #expect(try PurgeCounts(columnText: counts.columnText) == counts)
        #expect(throws: StorageError.self) {
            try PurgeCounts(columnText: #"[["t","mask",1,0]]"#)
        }
    }

    @Test func `counts with every kind of character are read back as they were`() throws {
        var counts = PurgeCounts(
            entries: [
                .init(name: "a\"\\\u{1}\n", action: .rule(.delete), rowCount: 1),
                .init(
                    name: "plain",
                    action: .rule(.anonymize, ", \u{e4}"),
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
