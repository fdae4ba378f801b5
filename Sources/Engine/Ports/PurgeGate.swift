package import Lifecycle
import Synchronization

/// Tells a store in the middle of a call which of its orders may not begin any more.
///
/// A call carries up to ``Lifecycle/Limits/purgeBatchMax`` requests and may take its time; a hold
/// that is placed meanwhile reaches it here. It never opens again: what is released meanwhile goes
/// with a later call.
package final class PurgeGate: Sendable {
    private struct State {
        var closed: Set<RequestID> = []
        var isRetired = false
        var mayBegin: (@Sendable (RequestID) -> Bool)?
        var reason: String?
    }

    private let state = Mutex(State())

    package init() {}

    package func close(for requests: [RequestID]) {
        state.withLock { $0.closed.formUnion(requests) }
    }

    /// Ends the call: it was made under a configuration that is not in force any more.
    package func retire() { state.withLock { $0.isRetired = true } }

    /// Lets an order begin only while the lease of its partition lasts.
    func limit(to mayBegin: @escaping @Sendable (RequestID) -> Bool) {
        state.withLock { $0.mayBegin = mayBegin }
    }

    /// The store's own reason of a failure in this call, without personal data.
    package func note(_ reason: String) { state.withLock { $0.reason = reason } }

    package var reason: String? { state.withLock { $0.reason } }

    package var isRetired: Bool { state.withLock { $0.isRetired } }

    package func isClosed(for request: RequestID) -> Bool {
        state.withLock { state in
            state.isRetired || state.closed.contains(request)
                || !(state.mayBegin?(request) ?? true)
        }
    }
}
