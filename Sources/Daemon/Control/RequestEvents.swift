import Control
import Lifecycle
import Synchronization

/// The changes of one request, which end with the request.
final class RequestEvents: Sendable {
    private let changes: AsyncStream<WireEvent>
    private let isOver = Mutex(false)

    init(_ changes: AsyncStream<WireEvent>) { self.changes = changes }

    func next() async -> WireEvent? {
        guard !isOver.withLock({ $0 }) else { return nil }
        for await event in changes {
            if event.endsRequest { isOver.withLock { $0 = true } }
            return event
        }
        return nil
    }
}

extension WireEvent {
    fileprivate var endsRequest: Bool {
        guard kind == .known(.request) else { return false }
        return state == RequestState.completed.rawValue || state == RequestState.cancelled.rawValue
    }
}
