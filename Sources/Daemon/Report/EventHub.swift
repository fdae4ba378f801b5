import Control
import Lifecycle
import Synchronization

/// Sends live changes to the listeners of the control socket.
final class EventHub: Sendable {
    fileprivate struct State {
        var lastSequence: Int64
        /// The newest events, the oldest first.
        var recent: [WireEvent] = []
        var lastListener: UInt64 = 0
        var listeners:
            [UInt64: (request: RequestID?, stream: AsyncStream<WireEvent>.Continuation)] = [:]
    }

    /// A listener this far behind loses its oldest events; it asks for the state anyway.
    ///
    /// So many events are kept for one that comes back.
    fileprivate static let backlogMax = 1024

    private let state: Mutex<State>

    /// The sequence goes on above that of every earlier run, unless the clock was set back.
    init(startedAt: WallTime = WallTime(unixMilliseconds: 0)) {
        state = Mutex(State(lastSequence: startedAt.unixMilliseconds * 1000))
    }

    /// Changes of one request or of all, until the hub is closed.
    ///
    /// They begin after the event `last`, or with an event of the kind `reset` when not all later
    /// ones are known.
    func listen(
        to request: RequestID?,
        after last: Int64? = nil,
        at now: WallTime = .distantPast
    ) -> AsyncStream<WireEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: WireEvent.self,
            bufferingPolicy: .bufferingNewest(Self.backlogMax)
        )
        let number = state.withLock { state in
            if let last {
                for event in state.missed(after: last, by: request, at: now) {
                    continuation.yield(event)
                }
            }
            state.lastListener += 1
            state.listeners[state.lastListener] = (request, continuation)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// `make` takes a sequence number.
    func tell(about request: RequestID?, _ make: (Int64) -> WireEvent) {
        let (event, streams) = state.withLock {
            state -> (WireEvent, [AsyncStream<WireEvent>.Continuation]) in
            state.lastSequence += 1
            let event = make(state.lastSequence)
            state.keep(event)
            let streams = state.listeners.values
                .filter { $0.request == nil || $0.request == request }.map(\.stream)
            return (event, streams)
        }
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

extension EventHub.State {
    fileprivate mutating func keep(_ event: WireEvent) {
        // Now and then, so that most events move nothing.
        if recent.count == 2 * EventHub.backlogMax { recent.removeFirst(EventHub.backlogMax) }
        recent.append(event)
    }

    fileprivate func missed(
        after last: Int64,
        by request: RequestID?,
        at now: WallTime
    ) -> [WireEvent] {
        let known = recent.suffix(EventHub.backlogMax)
        guard last <= lastSequence, last >= (known.first?.sequence ?? lastSequence + 1) - 1 else {
            return [WireEvent(sequence: lastSequence, kind: .reset, at: now, requestID: request)]
        }
        return known.filter {
            $0.sequence > last && (request == nil || $0.requestID == request)
        }
    }
}
