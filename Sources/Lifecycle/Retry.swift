/// When work that failed is tried again.
///
/// Lookups, revocations, purges, plans, exchanges, rechecks and replays all keep one.
package struct Retry: Hashable, Sendable {
    /// Consecutive failures; decides the delay.
    package var failures = 0
    /// No try before this.
    package var nextAt: WallTime?
    /// ``EffectFailure/code`` of the last try, or what else it ended with.
    package var lastFailure: String?

    package init(failures: Int = 0) { self.failures = failures }

    /// The time until which the work has to wait; `nil` when it may be tried now.
    package func wait(at now: WallTime) -> WallTime? { nextAt.flatMap { $0 > now ? $0 : nil } }

    /// Counts a failure and sets the next try, with jitter.
    package mutating func fail(after hint: Duration? = nil, _ context: inout StepContext) {
        failures += 1
        let delay = Backoff.delay(failures: failures, retryAfter: hint, random: &context.random)
        nextAt = context.now + delay
    }

    /// Counts a failure and sets the next try, each delay twice the one before.
    package mutating func fail(doubling base: Duration, cap: Duration, at now: WallTime) {
        failures += 1
        nextAt = now + Backoff.doubled(base, failures: failures, cap: cap)
    }
}

/// Work that keeps a ``Retry``.
package protocol Retryable {
    var retry: Retry { get set }
}

extension Retryable {
    /// ``Retry/failures``.
    package var failures: Int {
        get { retry.failures }
        set { retry.failures = newValue }
    }

    /// ``Retry/nextAt``.
    package var retryAt: WallTime? {
        get { retry.nextAt }
        set { retry.nextAt = newValue }
    }

    /// ``Retry/lastFailure``.
    package var lastFailure: String? {
        get { retry.lastFailure }
        set { retry.lastFailure = newValue }
    }

    /// Forgets delay and failures, but not the reason of the last one.
    mutating func retryNow() {
        retryAt = nil
        failures = 0
    }
}

extension EffectFailure {
    /// What the other side asked for; `nil` when it did not.
    var retryAfter: Duration? { if case .throttled(let hint) = self { hint } else { nil } }
}

/// Exponential backoff: a random delay between 0 and base · 2^(failures − 1), capped.
///
/// Full jitter spreads the retries of many requests after one outage best ("Exponential Backoff And
/// Jitter", AWS Architecture Blog, 2015). Upper bounds for the default base of 500 ms:
///   - 1 failure: 500 ms
///   - 5 failures: 8 s
///   - 10 failures: 256 s
///   - 18 failures and more: 24 h
package enum Backoff {
    /// The delay before the next try.
    ///
    /// - Parameters:
    ///   - failures: Consecutive failures so far, at least 1.
    ///   - retryAfter: What the other side asked for; clamped to 1 s … 24 h and never undercut.
    ///   - cap: The longest delay, ``Limits/backoffMax`` by default.
    ///   - random: Source of the jitter.
    /// - Returns: A delay between 1 ms and `cap`; with `retryAfter`, between it and twice as much,
    ///   at most ``Limits/backoffMax``.
    package static func delay(
        failures: Int,
        retryAfter: Duration? = nil,
        cap: Duration = Limits.backoffMax,
        random: inout SeededGenerator
    ) -> Duration {
        let ceiling = doubled(Limits.backoffBase, failures: failures, cap: cap).milliseconds
        guard let retryAfter else { return draw(upTo: ceiling, &random) }
        let clamped = min(max(retryAfter, Limits.retryAfterMin), Limits.backoffMax)
        // Jitter on top, or all requests that were given "60 s" come back in the same second.
        let jitter = draw(upTo: min(ceiling, clamped.milliseconds), &random)
        return min(clamped + jitter, Limits.backoffMax)
    }

    /// `base`, twice that after the second failure, and so on up to `cap`; without jitter.
    package static func doubled(_ base: Duration, failures: Int, cap: Duration) -> Duration {
        let doublings = min(max(failures, 1) - 1, 40)
        let (product, overflow) = base.milliseconds.multipliedReportingOverflow(by: 1 << doublings)
        return overflow ? cap : min(cap, .milliseconds(product))
    }

    private static func draw(
        upTo milliseconds: Int64,
        _ random: inout SeededGenerator
    ) -> Duration {
        .milliseconds(Int64.random(in: 1...max(1, milliseconds), using: &random))
    }
}
