package import Lifecycle
import Synchronization

/// Tells a target in the middle of a call which of its orders may not begin any more.
///
/// A call carries up to ``Lifecycle/Limits/purgeBatchMax`` requests and may take its time; a hold
/// that is placed meanwhile reaches it here. It never opens again: what is released meanwhile goes
/// with a later call.
package final class PurgeGate: Sendable {
    private let closed = Mutex<Set<RequestID>>([])

    package init() {}

    /// Lets no order of these requests begin from now on.
    package func close(for requests: [RequestID]) {
        closed.withLock { $0.formUnion(requests) }
    }

    /// Whether no order of the request may begin.
    package func isClosed(for request: RequestID) -> Bool {
        closed.withLock { $0.contains(request) }
    }
}
