import Synchronization

/// How many documents a second may be deleted: 500, and half as many again every five minutes
/// (firebase.google.com/docs/firestore/best-practices, "Ramping up traffic").
final class WriteRamp: Sendable {
    /// Documents a second at the start.
    static let rateStart = 500.0
    /// What Google's own bulk writer stops at (googleapis/nodejs-firestore, `rate-limiter.ts`).
    static let rateMax = 10_000.0
    static let growth = 1.5
    static let step = Duration.seconds(300)

    private struct State {
        var begunAt: Duration?
        /// When the next write is due.
        var next = Duration.zero
    }

    private let state = Mutex(State())

    /// Takes the time of some writes.
    ///
    /// - Parameters:
    ///   - count: Writes.
    ///   - now: Monotonic.
    /// - Returns: How long to wait before they are made.
    func reserve(_ count: Int, at now: Duration) -> Duration {
        state.withLock { state in
            // After a pause of one step the traffic begins anew.
            if state.begunAt == nil || now > state.next + Self.step { state.begunAt = now }
            let elapsed = now - (state.begunAt ?? now)
            let start = max(state.next, now)
            let seconds = Double(count) / Self.rate(after: elapsed)
            state.next = start + .nanoseconds(Int64(seconds * 1_000_000_000))
            return start - now
        }
    }

    static func rate(after elapsed: Duration) -> Double {
        var rate = rateStart
        var rest = elapsed
        while rest >= step && rate < rateMax {
            rate *= growth
            rest -= step
        }
        return min(rate, rateMax)
    }
}
