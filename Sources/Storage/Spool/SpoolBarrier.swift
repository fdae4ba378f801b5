package import Engine
import Synchronization

/// Callers that wait for a read of the spool that begins after they asked.
final class SpoolBarrier: Sendable {
    /// The last question that a read answers which begins now.
    typealias Mark = UInt64

    private struct State {
        var last: Mark = 0
        var waiting: [Mark: CheckedContinuation<SpoolReadOutcome, Never>] = [:]
        var isStopped = false
    }

    private let state = Mutex(State())

    var mark: Mark { state.withLock { $0.last } }

    var hasWaiters: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Waits until a read that begins after the call has ended; `stopped` in a cancelled task.
    ///
    /// `ask` runs once the question is noted.
    func wait(_ ask: () -> Void) async -> SpoolReadOutcome {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isStopped, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume(returning: .stopped) } else { ask() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: .stopped)
        }
    }

    /// Answers those who asked before a read began.
    func pass(_ mark: Mark, _ outcome: SpoolReadOutcome = .read) {
        let passed = state.withLock { state in
            let passed = state.waiting.filter { $0.key <= mark }
            for number in passed.keys { state.waiting[number] = nil }
            return passed.values
        }
        for continuation in passed { continuation.resume(returning: outcome) }
    }

    /// Answers all, also later callers: nothing is read any more.
    func stop() {
        state.withLock { $0.isStopped = true }
        pass(mark, .stopped)
    }
}

extension SpoolService {
    /// Begins a read after the call and waits until it has ended.
    ///
    /// Waits ``SpoolLimits/unreadablePatience`` for a file that cannot be read, also for a lock:
    /// otherwise an application could stop the requests of all others.
    package func readToEnd() async -> SpoolReadOutcome {
        await barrier.wait { poke() }
    }

    /// Lets those who asked before a failed attempt go on without a file that stays unreadable.
    func giveUpUnreadable(_ mark: SpoolBarrier.Mark) {
        let now = ports.clock.uptime()
        guard monitor.health.quarantine != nil else {
            work.withLock { $0.unreadableSince = nil }
            return
        }
        let since = work.withLock { work in
            // No event and no sweep need come at the end of the patience.
            if work.unreadableSince == nil { unreadableSignal.send() }
            work.unreadableSince = work.unreadableSince ?? now
            return work.unreadableSince ?? now
        }
        if now - since >= SpoolLimits.unreadablePatience { barrier.pass(mark, .unreadable) }
    }
}
