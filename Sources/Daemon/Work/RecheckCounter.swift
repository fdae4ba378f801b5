import Lifecycle
import Storage
import Synchronization

/// Counts rechecks since the start.
final class RecheckCounter: Sendable {
    private struct State {
        var counts: [Recheck.Outcome: Int] = [:]
        var overdue: Set<TargetName> = []
        var isSampleFound = false
    }

    private let state = Mutex(State())

    var counts: [Recheck.Outcome: Int] { state.withLock(\.counts) }

    /// Targets that could not be checked for days.
    var overdue: Set<TargetName> { state.withLock(\.overdue) }

    /// Whether the last sample found data of an erased user that no recheck follows.
    var isSampleFound: Bool { state.withLock(\.isSampleFound) }

    func count(_ outcome: Recheck.Outcome) {
        state.withLock { $0.counts[outcome, default: 0] += 1 }
    }

    func sampled(isFound: Bool) { state.withLock { $0.isSampleFound = isFound } }

    func answered(_ target: TargetName) {
        state.withLock { _ = $0.overdue.remove(target) }
    }

    func noteOverdue(_ target: TargetName) {
        state.withLock { _ = $0.overdue.insert(target) }
    }
}
