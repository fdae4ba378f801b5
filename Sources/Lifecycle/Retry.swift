/// How long work that failed waits for its next try; each use in the service has its policy here.
///
/// Delays double from the first to the cap. With jitter the whole range is used: that spreads the
/// retries of many requests after one outage best ("Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015).
package struct RetryPolicy: Hashable, Sendable {
    private let first: Duration
    private let cap: Duration

    package init(first: Duration, cap: Duration) { (self.first, self.cap) = (first, cap) }

    /// Lookups, revocations, purges and plans: from the restart of a process to a day, for years.
    package static let effect = RetryPolicy(first: Limits.backoffBase, cap: Limits.backoffMax)
    /// Exchanges of codes, which live for five minutes.
    package static let exchange = RetryPolicy(first: Limits.backoffBase, cap: Limits.codeBackoffMax)
    /// Refreshes that keep a token alive.
    package static let renewal = RetryPolicy(
        first: Limits.renewalRetryMin,
        cap: Limits.renewalRetryMax
    )
    /// A provider whose breaker is open.
    package static let breaker = RetryPolicy(
        first: Limits.breakerPauseMin,
        cap: Limits.breakerPauseMax
    )
    /// A store that fails a recheck: the next interval is days away.
    package static let recheck = RetryPolicy(first: .seconds(60), cap: .seconds(6 * 3600))
    /// A store in a replay, for which an operator waits.
    package static let replay = RetryPolicy(first: .seconds(1), cap: .seconds(1))
    /// Writes of the state on a full disk: recovery within five seconds, without a busy loop.
    package static let fullDisk = RetryPolicy(first: .seconds(1), cap: .seconds(1))
    /// What the service has paused by itself and checks again: an operator who mends it waits
    /// seconds.
    package static let pausedComponent = RetryPolicy(first: .seconds(15), cap: .seconds(960))
    /// Batches of the spool that the intake refused.
    package static let intake = RetryPolicy(first: .milliseconds(100), cap: .seconds(5))
    /// Credentials of the spool that could not be sealed: a few failing calls of getrandom(2) are
    /// over after a second.
    package static let postponedRow = RetryPolicy(first: .seconds(1), cap: .seconds(30))
    /// Documents that an application changes while a store deletes them.
    package static let changedDocument = RetryPolicy(first: .milliseconds(100), cap: .seconds(4))
    /// Messages to a subscriber: soon after a restart of its server, and for days.
    package static let message = RetryPolicy(first: .seconds(5), cap: .seconds(4 * 3600))
    /// A subscriber of which the last call failed: one call shows whether it is back.
    package static let subscriber = RetryPolicy(first: .seconds(1), cap: .seconds(300))
    /// A daemon that restarts, for its client: it takes a second.
    package static let restart = RetryPolicy(first: .milliseconds(20), cap: .seconds(1))

    /// Polls of a transmitter of events; one that is back is noticed within the hour.
    package static func poll(every interval: Duration) -> RetryPolicy {
        RetryPolicy(first: interval, cap: max(interval, .seconds(3600)))
    }

    /// The delay after so many consecutive failures, without jitter.
    package func delay(failures: Int) -> Duration {
        let doublings = min(max(failures, 1) - 1, 40)
        let (product, overflow) = first.milliseconds.multipliedReportingOverflow(by: 1 << doublings)
        return overflow ? cap : min(cap, .milliseconds(product))
    }

    /// The delay with jitter: between 1 ms and the one without.
    ///
    /// `retryAfter`, what the other side asked for, is clamped to 1 s … 24 h and never undercut;
    /// the delay is at most twice as much then.
    package func delay(
        failures: Int,
        retryAfter: Duration? = nil,
        random: inout SeededGenerator
    ) -> Duration {
        let ceiling = delay(failures: failures).milliseconds
        guard let retryAfter else { return Self.draw(upTo: ceiling, &random) }
        let clamped = min(max(retryAfter, Limits.retryAfterMin), Limits.backoffMax)
        // Jitter on top, or all requests that were given "60 s" come back in the same second.
        let jitter = Self.draw(upTo: min(ceiling, clamped.milliseconds), &random)
        return min(clamped + jitter, Limits.backoffMax)
    }

    private static func draw(upTo most: Int64, _ random: inout SeededGenerator) -> Duration {
        .milliseconds(Int64.random(in: 1...max(1, most), using: &random))
    }
}

/// When work that failed is tried again.
package struct Retry: Hashable, Sendable, Codable {
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
        let delay = RetryPolicy.effect.delay(
            failures: failures,
            retryAfter: hint,
            random: &context.random
        )
        nextAt = context.now + delay
    }

    /// Counts a failure and sets the next try, without jitter.
    mutating func fail(_ policy: RetryPolicy, at now: WallTime) -> WallTime {
        failures += 1
        let time = now + policy.delay(failures: failures)
        nextAt = time
        return time
    }
}

/// Work that keeps a ``Retry``.
package protocol Retryable {
    var retry: Retry { get set }
}

extension Retryable {
    package var failures: Int {
        get { retry.failures }
        set { retry.failures = newValue }
    }

    package var retryAt: WallTime? {
        get { retry.nextAt }
        set { retry.nextAt = newValue }
    }

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
