import Lifecycle
import Testing

/// Relations between limits that the code relies on.
struct LimitsTests {
    @Test func `retry delays grow from a base to a cap`() {
        #expect(Limits.backoffBase > .zero)
        #expect(Limits.backoffBase < Limits.retryAfterMin)
        #expect(Limits.retryAfterMin < Limits.backoffMax)
        #expect(Limits.codeBackoffMax >= Limits.backoffBase)
    }

    @Test func `a code is tried many times in its five minutes`() {
        #expect(Limits.codeBackoffMax * 50 <= .seconds(300))
        #expect(Limits.codeAgeMax >= .seconds(600))
        #expect(Limits.codeAgeMax > Limits.breakerPauseMax)
        #expect(Limits.codeSlots >= 1)
    }

    @Test func `a page of due work fits into the window, a batch into a page`() {
        #expect(Limits.fetchMax * 4 <= Limits.windowMax)
        #expect(Limits.purgeBatchMax * 4 <= Limits.fetchMax)
        #expect(Limits.purgeBatchMax > 0)
    }

    @Test func `a breaker opens after a few failures and probes every few minutes`() {
        #expect(Limits.breakerFailures > 1)
        #expect(Limits.breakerPauseMin > .zero)
        #expect(Limits.breakerPauseMin < Limits.breakerPauseMax)
        #expect(Limits.breakerPauseMax < Limits.backoffMax)
    }

    @Test func `proof is given up before the retry delay reaches a minute`() {
        #expect(Limits.confirmationsMax >= 1)
        let longest = Limits.backoffBase * (1 << (Limits.confirmationsMax - 1))
        #expect(longest < .seconds(60))
    }

    @Test func `one crash never quarantines`() {
        #expect(Limits.crashesMax > 1)
        #expect(Limits.credentialsPerIdentityMax > 1)
    }
}
