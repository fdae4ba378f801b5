import Lifecycle
import Storage
import Synchronization

/// Counts rechecks since the start.
final class RecheckCounter: Sendable {
    private struct State {
        var counts: [Recheck.Outcome: Int] = [:]
        var overdue: [TargetName: WallTime] = [:]
        var isSampleFound = false
    }

    private static let warningInterval = Duration.seconds(86_400)

    private let state = Mutex(State())

    var counts: [Recheck.Outcome: Int] { state.withLock(\.counts) }

    /// Targets that could not be checked for days.
    var overdue: Set<TargetName> { state.withLock { Set($0.overdue.keys) } }

    /// Whether the last sample found data of an erased user.
    var isSampleFound: Bool { state.withLock(\.isSampleFound) }

    func count(_ outcome: Recheck.Outcome) {
        state.withLock { $0.counts[outcome, default: 0] += 1 }
    }

    func sampled(isFound: Bool) { state.withLock { $0.isSampleFound = isFound } }

    func answered(_ target: TargetName) {
        state.withLock { $0.overdue[target] = nil }
    }

    /// Notes a target as overdue; returns whether to report it now.
    func mayWarn(_ target: TargetName, at now: WallTime) -> Bool {
        state.withLock { state in
            if let last = state.overdue[target], now < last + Self.warningInterval { return false }
            state.overdue[target] = now
            return true
        }
    }
}
