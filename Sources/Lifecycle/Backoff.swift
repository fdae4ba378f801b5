/// Exponential backoff with full jitter: a random delay between 0 and base · 2^(failures − 1),
/// capped.
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
    ///   - cap: The longest delay, ``Limits/backoffMax`` unless told.
    ///   - random source: Source of the jitter.
    /// - Returns: A delay between 1 ms and `cap`; with `retryAfter`, between it and twice as much,
    ///   at most ``Limits/backoffMax``.
    package static func delay(
        failures: Int,
        retryAfter: Duration? = nil,
        cap: Duration = Limits.backoffMax,
        random: inout SeededGenerator
    ) -> Duration {
        let doublings = min(max(failures, 1) - 1, 40)
        let ceiling = min(
            cap.milliseconds,
            Limits.backoffBase.milliseconds.multipliedOrMax(1 << Int64(doublings))
        )
        guard let retryAfter else { return draw(upTo: ceiling, &random) }
        let clamped = min(max(retryAfter, Limits.retryAfterMin), Limits.backoffMax)
        // Jitter on top, or everybody who was told "60 s" comes back in the same second.
        let jitter = draw(upTo: min(ceiling, clamped.milliseconds), &random)
        return min(clamped + jitter, Limits.backoffMax)
    }

    private static func draw(
        upTo milliseconds: Int64,
        _ random: inout SeededGenerator
    ) -> Duration {
        .milliseconds(Int64.random(in: 1...max(1, milliseconds), using: &random))
    }
}

extension Int64 {
    fileprivate func multipliedOrMax(_ factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
