import Lifecycle
import Testing

@Suite("Since when data is known to have returned")
struct EndedRecheckTests {
    private static let before = Sample.start
    private static let now = Sample.start + Sample.day

    /// What a recheck found, what was known, and what is known then.
    static let rows: [(Recheck.Outcome?, known: WallTime?, then: WallTime?)] = [
        (.returned, nil, now), (.returned, before, before),
        (.clean, nil, nil), (.clean, before, nil),
        (.unverified, nil, nil), (.unverified, before, before),
        (.unreadable, nil, nil), (.unreadable, before, before),
        (.abandoned, nil, nil), (.abandoned, before, before),
        (nil, nil, nil), (nil, before, before),
    ]

    @Test("the first time stays until a recheck finds nothing", arguments: rows)
    func since(_ outcome: Recheck.Outcome?, _ known: WallTime?, _ then: WallTime?) {
        let ended = EndedRecheck(
            RunMachine.due(),
            outcome.map { Recheck(at: Self.now, $0) },
            next: .closed
        )
        #expect(ended.returnedSince(known) == then)
    }

    @Test func `the table has every outcome`() {
        #expect(Set(Self.rows.compactMap(\.0)) == Set(Recheck.Outcome.allCases))
    }
}
