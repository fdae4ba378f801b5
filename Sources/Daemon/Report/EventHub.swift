import Control
import Lifecycle
import Synchronization

/// Sends live changes to the listeners of the control socket.
final class EventHub: Sendable {
    private struct State {
        var lastSequence: Int64 = 0
        var lastListener: UInt64 = 0
        var listeners:
            [UInt64: (request: RequestID?, stream: AsyncStream<WireEvent>.Continuation)] = [:]
    }

    /// A listener this far behind loses its oldest events; it asks for the state anyway.
    private static let backlogMax = 1024

    private let state = Mutex(State())

    /// Changes of one request or of all, until the hub is closed.
    func listen(to request: RequestID?) -> AsyncStream<WireEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: WireEvent.self,
            bufferingPolicy: .bufferingNewest(Self.backlogMax)
        )
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = (request, continuation)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Costs nothing without a listener; `make` takes a sequence number.
    func tell(about request: RequestID?, _ make: (Int64) -> WireEvent) {
        let (event, streams) = state.withLock {
            state -> (WireEvent?, [AsyncStream<WireEvent>.Continuation]) in
            let streams = state.listeners.values
                .filter { $0.request == nil || $0.request == request }.map(\.stream)
            guard !streams.isEmpty else { return (nil, []) }
            state.lastSequence += 1
            return (make(state.lastSequence), streams)
        }
        guard let event else { return }
        for stream in streams { stream.yield(event) }
    }

    func close() {
        let streams = state.withLock { state in
            defer { state.listeners.removeAll() }
            return state.listeners.values.map(\.stream)
        }
        for stream in streams { stream.finish() }
    }
}
