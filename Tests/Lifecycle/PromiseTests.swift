import Testing

@testable import Lifecycle

@Suite("A store that only promises to erase")
struct PromiseTests {
    private static let until = WallTime(unixMilliseconds: 1_900_000_000_000)

    private static func counts() -> PurgeCounts {
        PurgeCounts(
            entries: [
                PurgeCounts.Entry(
                    name: "user",
                    action: .accepted,
                    rowCount: 3
                )
            ],
            residualCopies: [
                PurgeCounts.ResidualCopies(.promised, until: until)
            ]
        )
    }

    @Test("has accepted, which is no work done, and the later of two promises counts")
    func accepted() {
        var counts = Self.counts()
        #expect(counts.isAccepted && counts.workedCount == 0 && counts.workedPlaces.isEmpty)
        #expect(counts.acceptedUntil == Self.until)
        counts.add(Self.counts())
        #expect(counts.entries.map(\.rowCount) == [3])
        #expect(!PurgeCounts().isAccepted && PurgeCounts().acceptedUntil == nil)
    }

    @Test(
        "is not purged again for what is still there, and an answer of none is no lack of keys",
        arguments: [VerifyAnswer.clean, .remaining(7), .notLookedFor]
    )
    func verified(answer: VerifyAnswer) {
        let now = WallTime(unixMilliseconds: 1_800_000_000_000)
        var context = StepContext(now: now, random: SeededGenerator(seed: 1))
        var work = PurgeWork(store: StoreName("api"))
        work.begin(at: now)
        #expect(work.record(purge: .done(Self.counts()), &context) == [])
        work.begin(at: now)
        #expect(work.record(verify: answer, &context) == [])
        #expect(work.step == .verified && work.endedAt == now)
        #expect(work.counts.isAccepted && !work.counts.isNotLookedFor)
    }
}
