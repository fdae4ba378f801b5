import Lifecycle
import Testing

@testable import Storage

@Suite("Counts of purges in the state") struct PurgeCountsTests {
    @Test func `counts with every kind of character are read back as they were`() throws {
        var counts = PurgeCounts(
            entries: [
                .init(name: "a\"\\\u{1}\n", action: "delete", rowCount: 1),
                .init(name: "plain", action: "mask, \u{e4}", rowCount: 2, newerCount: 3),
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
