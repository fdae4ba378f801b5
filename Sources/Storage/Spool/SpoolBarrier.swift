package import Engine
import Synchronization

/// Who waits for a read of the spool that begins after the question.
final class SpoolBarrier: Sendable {
    /// Until which question a read that begins now answers.
    struct Mark: Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var last: UInt64 = 0
        var waiting: [UInt64: Waiter] = [:]
        var lastKey: UInt64 = 0
        var isStopped = false
    }

    private struct Waiter {
        /// Names it before it has a number.
        let key: UInt64
        let continuation: CheckedContinuation<SpoolReadOutcome, Never>
    }

    private let state = Mutex(State())

    /// What a read answers that begins now.
    var mark: Mark { state.withLock { Mark(number: $0.last) } }

    var hasWaiters: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Waits until a read that begins after the call has ended.
    ///
    /// - Parameter ask: Called once the question is noted.
    /// - Returns: What became of the read; ``SpoolReadOutcome/stopped`` when the task is cancelled.
    func wait(_ ask: () -> Void) async -> SpoolReadOutcome {
        let key = state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isStopped, !Task.isCancelled else { return true }
                    state.last += 1
                    state.waiting[state.last] = Waiter(key: key, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume(returning: .stopped) } else { ask() }
            }
        } onCancel: {
            leave(key)
        }
    }

    private func leave(_ key: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiting.first(where: { $0.value.key == key }) else {
                return nil
            }
            return state.waiting.removeValue(forKey: place.key)
        }
        waiter?.continuation.resume(returning: .stopped)
    }

    /// Answers those who asked before a read began.
    func pass(_ mark: Mark, _ outcome: SpoolReadOutcome = .read) {
        let passed = state.withLock { state in
            let passed = state.waiting.filter { $0.key <= mark.number }
            for number in passed.keys { state.waiting[number] = nil }
            return passed.values
        }
        for waiter in passed { waiter.continuation.resume(returning: outcome) }
    }

    /// Answers everybody, also whoever asks later: nothing is read any more.
    func stop() {
        state.withLock { $0.isStopped = true }
        pass(mark, .stopped)
    }
}

extension SpoolService: SpoolReader {
    /// Begins a read after the call and waits until it has ended.
    ///
    /// A lock that somebody holds is waited out, however long, and so is a file that somebody keeps
    /// in WAL mode: it is sound and may hold a credential. A file that cannot be read for another
    /// reason is waited for ``SpoolLimits/unreadablePatience``.
    package func readToEnd() async -> SpoolReadOutcome {
        await barrier.wait { poke() }
    }

    /// Lets whoever waits go on without a file that cannot be read for too long.
    func giveUpUnreadable() {
        let now = ports.clock.uptime()
        guard monitor.health.quarantine != nil, !monitor.isKeptOut else {
            work.withLock { $0.unreadableSince = nil }
            return
        }
        let since = work.withLock { work in
            work.unreadableSince = work.unreadableSince ?? now
            return work.unreadableSince ?? now
        }
        if now - since >= SpoolLimits.unreadablePatience { barrier.pass(barrier.mark, .unreadable) }
    }
}
