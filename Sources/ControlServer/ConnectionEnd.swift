import Synchronization

/// The end of one connection, for whoever waits for it.
///
/// A connection may live for months: a request that waits no more leaves nothing behind. A callback
/// of the channel would stay.
final class ConnectionEnd: Sendable {
    private struct State {
        var hasCome = false
        var lastNumber: UInt64 = 0
        var waiters: [UInt64: AsyncStream<Never>.Continuation] = [:]
    }

    private let state = Mutex(State())

    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Wakes every waiter, also one that comes later.
    func come() {
        let waiters = state.withLock { state in
            state.hasCome = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Waits for the end, or until the task is cancelled.
    func wait() async {
        let (events, waiter) = AsyncStream.makeStream(of: Never.self)
        let number = state.withLock { state -> UInt64? in
            guard !state.hasCome else { return nil }
            state.lastNumber += 1
            state.waiters[state.lastNumber] = waiter
            return state.lastNumber
        }
        guard let number else { return }
        for await _ in events {}
        _ = state.withLock { $0.waiters.removeValue(forKey: number) }
    }
}
