import Lifecycle
import Synchronization

/// Counts attempts to deliver messages since the start.
final class MessageCounter: Sendable {
    struct Key: Hashable, Sendable {
        let subscriber: SubscriberName
        /// ``Lifecycle/MessageFailure``, or ``delivered``.
        let outcome: String
    }

    static let delivered = "delivered"

    private let state = Mutex<[Key: Int]>([:])

    var counts: [Key: Int] { state.withLock { $0 } }

    func count(_ subscriber: SubscriberName, _ outcome: String) {
        state.withLock { $0[Key(subscriber: subscriber, outcome: outcome), default: 0] += 1 }
    }
}
