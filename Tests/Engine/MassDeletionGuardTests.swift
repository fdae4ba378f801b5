import Lifecycle
import Testing

@testable import Engine

struct MassDeletionGuardTests {
    private static let now = Sample.start

    @Test func `it closes at the configured count of any hour`() {
        let guardian = DrivenGuard(purgesMax: 3)
        for minute in 0..<3 {
            let now = Self.now + .seconds(60 * minute)
            #expect(!guardian.isClosed(at: now))
            guardian.purgeBegan(at: now)
        }
        #expect(guardian.isClosed(at: Self.now + .seconds(180)))
        #expect(guardian.isClosed(at: Self.now + .seconds(3599)))
        #expect(!guardian.isClosed(at: Self.now + .seconds(3600)))
        guardian.purgeBegan(at: Self.now + .seconds(3600))
        #expect(guardian.isClosed(at: Self.now + .seconds(3601)))
    }

    @Test func `nothing passes where nothing may`() {
        let guardian = DrivenGuard(purgesMax: 0)
        #expect(guardian.isClosed(at: Self.now))
    }

    @Test func `an override is counted`() {
        let guardian = closed()
        guardian.override(purges: 2, until: Self.now + .seconds(600))
        for _ in 0..<2 {
            #expect(!guardian.isClosed(at: Self.now))
            guardian.purgeBegan(at: Self.now)
        }
        #expect(guardian.isClosed(at: Self.now))
    }

    @Test func `an override expires`() {
        let guardian = closed()
        guardian.override(purges: 100, until: Self.now + .seconds(600))
        #expect(!guardian.isClosed(at: Self.now + .seconds(599)))
        #expect(guardian.isClosed(at: Self.now + .seconds(600)))
    }

    @Test func `an override does not add to the one before`() {
        let guardian = closed()
        guardian.override(purges: 100, until: Self.now + .seconds(600))
        guardian.override(purges: 1, until: Self.now + .seconds(600))
        guardian.purgeBegan(at: Self.now)
        #expect(guardian.isClosed(at: Self.now))
    }

    @Test func `an override is kept for when it is needed`() {
        let guardian = DrivenGuard(purgesMax: 1)
        guardian.override(purges: 1, until: Self.now + .seconds(600))
        guardian.purgeBegan(at: Self.now)
        #expect(!guardian.isClosed(at: Self.now))
        guardian.purgeBegan(at: Self.now)
        #expect(guardian.isClosed(at: Self.now))
    }

    @Test func `a restart does not open it`() {
        let guardian = DrivenGuard(purgesMax: 3)
        guardian.restore(count: 1_000_000, at: Self.now)
        #expect(guardian.isClosed(at: Self.now))
        #expect(!guardian.isClosed(at: Self.now + .seconds(3600)))
        guardian.restore(count: 2, at: Self.now)
        #expect(!guardian.isClosed(at: Self.now))
    }

    @Test func `a submitter has three quarters of what the others leave, and the total holds`() {
        let guardian = DrivenGuard(purgesMax: 100)
        var counts: [UInt32?: Int] = [:]
        let submitters: [UInt32?] = [1000, 1001, nil, 1002, 1003, 1004]
        for submitter in submitters {
            while !guardian.isClosed(to: submitter, at: Self.now) {
                guardian.purgeBegan(by: submitter, at: Self.now)
                counts[submitter, default: 0] += 1
            }
        }
        let expected: [UInt32?: Int] = [1000: 75, 1001: 19, nil: 5, 1002: 1]
        #expect(counts == expected)
        #expect(guardian.shareCount == 4, "who only asked has no share")
        #expect(!guardian.isClosed(to: 1000, at: Self.now + .seconds(3600)))
        #expect(guardian.shareCount == 0)
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (6, 5), (8, 6)])
    func `from four an hour on, a submitter leaves a place for another`(most: Int, own: Int) {
        let guardian = DrivenGuard(purgesMax: most)
        var count = 0
        while !guardian.isClosed(to: 1000, at: Self.now) {
            guardian.purgeBegan(by: 1000, at: Self.now)
            count += 1
        }
        #expect(count == own)
        #expect(guardian.isClosed(to: nil, at: Self.now) == (own == most))
    }

    @Test func `what was begun before a restart counts as of others`() {
        let guardian = DrivenGuard(purgesMax: 100)
        guardian.restore(count: 80, at: Self.now)
        for _ in 0..<15 {
            #expect(!guardian.isClosed(to: 1000, at: Self.now))
            guardian.purgeBegan(by: 1000, at: Self.now)
        }
        #expect(guardian.isClosed(to: 1000, at: Self.now))
        #expect(!guardian.isClosed(to: 1001, at: Self.now))
    }

    @Test func `an override also lets go what only its submitter's share stops`() {
        let guardian = DrivenGuard(purgesMax: 4)
        for _ in 0..<3 { guardian.purgeBegan(by: 1000, at: Self.now) }
        #expect(guardian.isClosed(to: 1000, at: Self.now))
        guardian.override(purges: 1, until: Self.now + .seconds(600))
        #expect(!guardian.isClosed(to: 1000, at: Self.now))
        #expect(guardian.purgeBegan(by: 1000, at: Self.now))
        #expect(guardian.isClosed(to: 1000, at: Self.now))
        #expect(!guardian.purgeBegan(by: 1001, at: Self.now))
    }

    private func closed() -> DrivenGuard {
        let guardian = DrivenGuard(purgesMax: 1)
        guardian.purgeBegan(at: Self.now)
        return guardian
    }
}
