import Lifecycle
import Testing

struct RetryPolicyTests {
    /// Failures, and the longest delay that they allow.
    static let ceilings: [(Int, Duration)] = [
        (.min, .milliseconds(500)), (0, .milliseconds(500)), (1, .milliseconds(500)),
        (2, .seconds(1)), (5, .seconds(8)), (10, .seconds(256)), (17, .milliseconds(32_768_000)),
        (18, .milliseconds(65_536_000)), (19, .seconds(86_400)), (1000, .seconds(86_400)),
        (.max, .seconds(86_400)),
    ]

    @Test("delays use the whole range up to the ceiling", arguments: ceilings)
    func ceiling(_ failures: Int, _ ceiling: Duration) throws {
        let delays = sample { RetryPolicy.effect.delay(failures: failures, random: &$0) }
        #expect(try #require(delays.min()) >= .milliseconds(1))
        #expect(try #require(delays.max()) <= ceiling)
        // Full jitter: 2,000 throws that miss a tenth at either end would be a wonder.
        #expect(try #require(delays.min()) < ceiling / 10)
        #expect(try #require(delays.max()) > ceiling / 10 * 9)
    }

    @Test(
        "a cap bounds the delay, even a senseless one",
        arguments: [(Duration.seconds(5), Duration.seconds(5)), (.zero, .milliseconds(1))]
            + [(.seconds(-5), .milliseconds(1))]
    )
    func cap(_ cap: Duration, _ longest: Duration) {
        let policy = RetryPolicy(first: Limits.backoffBase, cap: cap)
        for delay in sample({ policy.delay(failures: 30, random: &$0) }) {
            #expect(delay >= .milliseconds(1))
            #expect(delay <= longest)
        }
    }

    /// What the other side asked for, and the bounds of what it gets at the first failure.
    static let hints: [(Duration, Duration, Duration)] = [
        (.seconds(-3600), .seconds(1), .milliseconds(1500)),
        (.zero, .seconds(1), .milliseconds(1500)),
        (.milliseconds(10), .seconds(1), .milliseconds(1500)),
        (.seconds(60), .seconds(60), .milliseconds(60_500)),
        (.seconds(86_400), .seconds(86_400), .seconds(86_400)),
        (.seconds(Int64.max), .seconds(86_400), .seconds(86_400)),
    ]

    @Test("Retry-After is clamped and never undercut", arguments: hints)
    func hint(_ hint: Duration, _ least: Duration, _ most: Duration) {
        let policy = RetryPolicy.effect
        for delay in sample({ policy.delay(failures: 1, retryAfter: hint, random: &$0) }) {
            #expect(delay >= least)
            #expect(delay <= most)
        }
    }

    @Test func `everybody who was told the same comes back at another time`() {
        let delays = sample { random in
            RetryPolicy.effect.delay(failures: 9, retryAfter: .seconds(60), random: &random)
        }
        #expect(Set(delays).count > 1000)
        #expect(delays.allSatisfy { $0 <= .seconds(120) })
    }

    /// What the other side may get over by itself, and what somebody has to mend.
    static let failures: [(EffectFailure, Duration)] =
        [
            .unreachable, .throttled(retryAfter: nil), .lost, .unusable,
            .refusesAll(Refusal(status: 403)), .notConfigured(client: "app"),
        ].map { ($0, .seconds(300)) }
        + [(EffectFailure.blocked(Obstacle(locked: 1, at: "posts")), Duration.seconds(30))]
        + [
            .rejected, .refused(Refusal(status: 400)), .misconfigured, .sealBroken, .vaultSealed,
            .blocked(Obstacle(.trigger)),
        ].map { ($0, .seconds(86_400)) }

    private static func wait(
        after failures: [EffectFailure],
        seed: UInt64
    ) throws -> Duration {
        let now = WallTime(unixMilliseconds: 1_800_000_000_000)
        var context = StepContext(now: now, random: SeededGenerator(seed: seed))
        var retry = Retry()
        for failure in failures { retry.fail(after: failure, &context) }
        #expect(retry.failures == failures.count)
        return try #require(retry.nextAt).since(now)
    }

    @Test("an outage is retried within minutes, a refusal within a day", arguments: failures)
    func longest(_ failure: EffectFailure, _ longest: Duration) throws {
        let many = Array(repeating: failure, count: 100)
        let waits = try (0..<200).map { try Self.wait(after: many, seed: $0) }
        #expect(waits.allSatisfy { $0 <= longest })
        #expect(try #require(waits.max()) > longest * 0.9)
    }

    @Test("refusals wait as if an outage of months before them had not been", arguments: 1...4)
    func afterOutage(refusals: Int) throws {
        let refused = Array(repeating: EffectFailure.rejected, count: refusals)
        let outage = Array(repeating: EffectFailure.unreachable, count: 10_000)
        for seed in 0..<20 as Range<UInt64> {
            let longest = RetryPolicy.effect.delay(failures: refusals)
            #expect(try Self.wait(after: outage + refused, seed: seed) <= longest)
        }
    }

    @Test("an end of the failures is an end of the outages among them")
    func reset() {
        var context = StepContext(
            now: WallTime(unixMilliseconds: 1_800_000_000_000),
            random: SeededGenerator(seed: 1)
        )
        var retry = Retry()
        retry.fail(after: .lost, &context)
        #expect(retry.outages == 1)
        retry.failures = 0
        #expect(retry.outages == 0)
    }

    /// A policy with its first and its longest delay.
    static let policies: [(RetryPolicy, Duration, Duration)] = [
        (.effect, .milliseconds(500), .seconds(86_400)),
        (.outage, .milliseconds(500), .seconds(300)),
        (.lockedRows, .milliseconds(500), .seconds(30)),
        (.exchange, .milliseconds(500), .seconds(5)),
        (.renewal, .seconds(3600), .seconds(86_400)),
        (.breaker, .seconds(1), .seconds(300)),
        (.recheck, .seconds(60), .seconds(21_600)),
        (.replay, .seconds(1), .seconds(1)),
        (.fullDisk, .seconds(1), .seconds(1)),
        (.pausedComponent, .seconds(15), .seconds(960)),
        (.intake, .milliseconds(100), .seconds(5)),
        (.postponedRow, .seconds(1), .seconds(30)),
        (.changedDocument, .milliseconds(100), .seconds(4)),
        (.restart, .milliseconds(20), .seconds(1)),
        (.message, .seconds(5), .seconds(14_400)),
        (.subscriber, .seconds(1), .seconds(300)),
        (.lease, .milliseconds(250), .milliseconds(250)),
        (.listener, .milliseconds(500), .milliseconds(500)),
        (.outcome, .milliseconds(100), .milliseconds(100)),
        (.directoryLock, .milliseconds(10), .milliseconds(10)),
        (.queue, .seconds(2), .seconds(2)),
        (.lockedSpool, .milliseconds(250), .milliseconds(250)),
        (.failingSpool, .milliseconds(50), .milliseconds(50)),
        (.fetchedValue, .seconds(5), .seconds(5)),
        (.lockedFile, .milliseconds(1), .milliseconds(1)),
        (.caller, .seconds(1), .seconds(1)),
        (.poll(every: .seconds(30)), .seconds(30), .seconds(3600)),
        (.poll(every: .seconds(7200)), .seconds(7200), .seconds(7200)),
    ]

    @Test("delays double up to the cap", arguments: policies)
    func policy(_ policy: RetryPolicy, _ first: Duration, _ longest: Duration) {
        #expect(policy.first == first)
        #expect(policy.delay(failures: .min) == first)
        #expect(policy.delay(failures: 1) == first)
        #expect(policy.delay(failures: 2) == min(first * 2, longest))
        #expect(policy.delay(failures: .max) == longest)
    }

    @Test func `one seed gives one sequence`() {
        let first = sample { RetryPolicy.effect.delay(failures: 12, random: &$0) }
        let second = sample { RetryPolicy.effect.delay(failures: 12, random: &$0) }
        #expect(first == second)
    }

    private func sample(_ delay: (inout SeededGenerator) -> Duration) -> [Duration] {
        var random = SeededGenerator(seed: 11)
        return (0..<2000).map { _ in delay(&random) }
    }
}
