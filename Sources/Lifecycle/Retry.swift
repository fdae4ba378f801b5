/// How long work that failed waits for its next try; each use in the service has its policy here.
///
/// Delays double from the first to the cap. With jitter the whole range is used: that spreads the
/// retries of many requests after one outage best ("Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015).
package struct RetryPolicy: Hashable, Sendable {
    /// The delay after the first failure.
    package let first: Duration
    private let cap: Duration

    package init(first: Duration, cap: Duration) { (self.first, self.cap) = (first, cap) }

    /// The same delay after each failure.
    private init(every delay: Duration) { self.init(first: delay, cap: delay) }

    /// Lookups, revocations, purges and plans that are refused, which somebody has to mend: from
    /// the restart of a process to a day, for years.
    package static let effect = RetryPolicy(first: Limits.backoffBase, cap: Limits.backoffMax)
    /// The same, where the other side is not well: once it is back, its users wait for minutes.
    package static let outage = RetryPolicy(first: Limits.backoffBase, cap: Limits.outageBackoffMax)
    /// Rows that other transactions have locked: the request goes on soon after they let go.
    package static let lockedRows = RetryPolicy(first: Limits.backoffBase, cap: .seconds(30))
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
    package static let replay = RetryPolicy(every: .seconds(1))
    /// Writes of the state on a full disk: recovery within five seconds, without a busy loop.
    package static let fullDisk = RetryPolicy(every: .seconds(1))
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
    /// Calls about leases and reads of what their owners left: several within the life of a lease.
    package static let lease = RetryPolicy(every: .milliseconds(250))
    /// Sessions on which the database notifies hosts; renewals find the same, later.
    package static let listener = RetryPolicy(every: .milliseconds(500))
    /// Reads of the outcome of a commit whose session has ended; the writer waits for them.
    package static let outcome = RetryPolicy(every: .milliseconds(100))
    /// Locks of a directory: those of a process that was killed last for milliseconds.
    package static let directoryLock = RetryPolicy(every: .milliseconds(10))
    /// A server of a queue that is away.
    package static let queue = RetryPolicy(every: .seconds(2))
    /// A spool that was locked for long, while a request waits for it.
    package static let lockedSpool = RetryPolicy(every: .milliseconds(250))
    /// Opening a spool that fails; an attacker makes events cheaply.
    package static let failingSpool = RetryPolicy(every: .milliseconds(50))
    /// Keys and metadata that a provider publishes; a user waits for them.
    package static let fetchedValue = RetryPolicy(every: .seconds(5))
    /// The lock of a store that is a file: a longer pause loses against an application that writes
    /// all the time.
    package static let lockedFile = RetryPolicy(every: .milliseconds(1))
    /// What callers are asked to wait: a full disk or a full queue is worth another try after this.
    package static let caller = RetryPolicy(every: .seconds(1))

    /// Polls of a transmitter of events; one that is back is noticed within the hour.
    package static func poll(every interval: Duration) -> RetryPolicy {
        RetryPolicy(first: interval, cap: max(interval, .seconds(3600)))
    }

    /// The delay after so many consecutive failures, without jitter.
    package func delay(failures: Int) -> Duration {
        let failures = max(failures, 1)
        let factor: Int64 = 1 << min(failures - 1, 40)
        let (product, overflow) = first.milliseconds.multipliedReportingOverflow(by: factor)
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
    /// Consecutive failures.
    package var failures = 0 {
        didSet { outages = min(outages, failures) }
    }
    /// Those of them where the other side was not well.
    package var outages = 0 {
        didSet { outages = min(outages, failures) }
    }
    /// No try before this.
    package var nextAt: WallTime?
    /// ``EffectFailure/code`` of the last try, or what else it ended with.
    package var lastFailure: String?

    package init(failures: Int = 0) { self.failures = failures }

    /// Sets the next try, without a failure.
    package mutating func postpone(until time: WallTime) { nextAt = time }

    /// Forgets delay and failures, but not the reason of the last one.
    package mutating func retryNow() { (nextAt, failures) = (nil, 0) }

    /// The time until which the work has to wait; `nil` when it may be tried now.
    package func wait(at now: WallTime) -> WallTime? { nextAt.flatMap { $0 > now ? $0 : nil } }

    /// Counts a failure and sets the next try, with jitter; without `failure` for an answer that
    /// was none of these.
    package mutating func fail(after failure: EffectFailure? = nil, _ context: inout StepContext) {
        let policy = failure?.retryPolicy ?? .effect
        let isOutage = policy != .effect
        failures += 1
        if isOutage { outages += 1 }
        let delay = policy.delay(
            // However long an outage was, a refusal after it is the first one.
            failures: isOutage ? failures : failures - outages,
            retryAfter: failure?.retryAfter,
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

    package var outages: Int {
        get { retry.outages }
        set { retry.outages = newValue }
    }

    package var retryAt: WallTime? {
        get { retry.nextAt }
        set { retry.nextAt = newValue }
    }

    package var lastFailure: String? {
        get { retry.lastFailure }
        set { retry.lastFailure = newValue }
    }
}

extension Retryable {
    /// Whether the configuration lacked its provider or directory when it was looked at last.
    var isProviderUnknown: Bool {
        get { lastFailure == ParkReason.unknownProvider.rawValue }
        set {
            if newValue { lastFailure = ParkReason.unknownProvider.rawValue }
            if !newValue, isProviderUnknown { lastFailure = nil }
        }
    }
}

/// Work of a request, with at most one call under way.
protocol RequestWork: Retryable {
    /// A call is under way in this process; not stored.
    var isBusy: Bool { get }

    /// Takes back a call that was begun and not made.
    mutating func takeBackCall()
    /// Forgets what another try may find different.
    mutating func forgetFindings()
}

extension RequestWork {
    /// The call under way was not made, and is due at that time.
    mutating func postpone(until time: WallTime) {
        guard isBusy else { return }
        takeBackCall()
        retry.postpone(until: time)
    }

    /// Makes the next try due at once.
    mutating func retryNow() {
        retry.retryNow()
        forgetFindings()
    }
}

extension EffectFailure {
    /// What the other side asked for; `nil` when it did not.
    package var retryAfter: Duration? {
        if case .throttled(let hint) = self { hint } else { nil }
    }

    /// ``RetryPolicy/effect`` unless it ends by itself, with nothing wrong with this request.
    fileprivate var retryPolicy: RetryPolicy {
        switch self {
        case .unreachable, .throttled, .lost, .unusable, .refusesAll, .notConfigured: .outage
        case .blocked(let obstacle) where obstacle.kind == .locked: .lockedRows
        case .rejected, .refused, .misconfigured, .sealBroken, .vaultSealed, .keys, .blocked:
            .effect
        }
    }
}

/// A small seeded generator (SplitMix64), so that one seed replays one run.
///
/// For jitter and identifiers only. Keys and nonces come from libcrypto.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
