import NIOCore
import Synchronization

/// Ends calls that take too long, with one timer for all calls of a client.
///
/// A timer for each call costs as much as its place in the pool, since another thread makes it and
/// takes it back. All calls of a client may take equally long. No timer runs without calls.
final class CallDeadlines: Sendable {
    /// Names a call that has begun.
    struct Token: Hashable {
        fileprivate let number: UInt64
    }

    private struct Call {
        var deadline: NIODeadline
        let fail: @Sendable () -> Void
    }

    private struct State {
        var calls: [Token: Call] = [:]
        var lastNumber: UInt64 = 0
        var isTimerSet = false
    }

    private let limit: TimeAmount
    private let pause: TimeAmount
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    /// A call is ended a sixteenth of `limit` too late at most, or a second.
    init(limit: TimeAmount, eventLoop: any EventLoop) {
        self.limit = limit
        pause = .milliseconds(min(max(limit.nanoseconds / 1_000_000 / 16, 1), 1000))
        self.eventLoop = eventLoop
    }

    /// Watches a call until ``end(_:)``; `fail` is called at most once, and never under a lock.
    func begin(_ fail: @escaping @Sendable () -> Void) -> Token {
        let deadline = NIODeadline.now() + limit
        let (token, mustSetTimer) = state.withLock { state in
            state.lastNumber += 1
            let token = Token(number: state.lastNumber)
            state.calls[token] = Call(deadline: deadline, fail: fail)
            defer { state.isTimerSet = true }
            return (token, !state.isTimerSet)
        }
        if mustSetTimer { setTimer() }
        return token
    }

    /// The call may take as long again.
    func renew(_ token: Token) {
        let deadline = NIODeadline.now() + limit
        state.withLock { $0.calls[token]?.deadline = deadline }
    }

    func end(_ token: Token) { state.withLock { _ = $0.calls.removeValue(forKey: token) } }

    private func setTimer() {
        eventLoop.scheduleTask(in: pause) { [weak self] in self?.look() }
    }

    private func look() {
        let now = NIODeadline.now()
        let (late, goesOn) = state.withLock { state -> ([Call], Bool) in
            let late = state.calls.filter { $0.value.deadline <= now }
            for token in late.keys { state.calls[token] = nil }
            state.isTimerSet = !state.calls.isEmpty
            return (Array(late.values), state.isTimerSet)
        }
        for call in late { call.fail() }
        if goesOn { setTimer() }
    }
}
