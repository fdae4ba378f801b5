import Lifecycle
import Synchronization

/// Counts notifications since the start, and keeps a stranger from flooding the journal.
final class NotificationCounter: Sendable {
    struct Key: Hashable, Sendable {
        let provider: ProviderName
        let effect: NotificationEffect
    }

    private struct State {
        var counts: [Key: Int] = [:]
        var warnedAt: [ProviderName: WallTime] = [:]
    }

    /// One refused notification a minute is reported; all are counted.
    private static let warningInterval = Duration.seconds(60)

    private let state = Mutex(State())

    var counts: [Key: Int] { state.withLock(\.counts) }

    func count(_ provider: ProviderName, _ effect: NotificationEffect) {
        state.withLock { $0.counts[Key(provider: provider, effect: effect), default: 0] += 1 }
    }

    func mayWarn(_ provider: ProviderName, at now: WallTime) -> Bool {
        state.withLock { state in
            if let last = state.warnedAt[provider], now < last + Self.warningInterval {
                return false
            }
            state.warnedAt[provider] = now
            return true
        }
    }
}
