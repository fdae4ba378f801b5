import Control
import Lifecycle
import Synchronization

/// A live change as it is kept: each request has several, and mostly nobody listens.
struct LiveChange: Sendable {
    enum Fact: Sendable {
        case request(RequestState, detail: String?)
        case verdict(Verdict, ProviderName)
    }

    let request: RequestID?
    let at: WallTime
    let fact: Fact

    fileprivate var state: RequestState? {
        if case .request(let state, _) = fact { state } else { nil }
    }

    /// Who follows this request alone hears no more.
    fileprivate var endsRequest: Bool { state == .completed || state == .cancelled }

    fileprivate func event(_ sequence: Int64) -> WireEvent {
        let kind: EventKind = state == nil ? .identity : .request
        var event = WireEvent(sequence: sequence, kind: kind, at: at, requestID: request)
        switch fact {
        case .request(let state, let detail):
            (event.state, event.detail) = (state.rawValue, detail)
        case .verdict(let verdict, let provider):
            (event.provider, event.verdict) = (provider.rawValue, .known(verdict))
        }
        return event
    }
}

/// Sends live changes to the listeners of the control socket.
final class EventHub: Sendable {
    fileprivate struct State {
        var lastSequence: Int64
        /// The newest changes, the oldest first; the last one has the last sequence.
        var recent: [LiveChange] = []
        var lastListener: UInt64 = 0
        var listeners: [UInt64: Listener] = [:]

        typealias Listener = (request: RequestID?, stream: AsyncStream<WireEvent>.Continuation)
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

    /// Changes of one request until it ends, or of all, until the hub is closed.
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

    func tell(_ change: LiveChange) {
        let (sequence, listeners) = state.withLock { state -> (Int64, [State.Listener]) in
            state.lastSequence += 1
            state.keep(change)
            let own = state.listeners.values.filter {
                $0.request == nil || $0.request == change.request
            }
            return (state.lastSequence, own)
        }
        guard !listeners.isEmpty else { return }
        let event = change.event(sequence)
        for (request, stream) in listeners {
            stream.yield(event)
            if request != nil, change.endsRequest { stream.finish() }
        }
    }

    /// The requests that somebody listens to alone.
    var followed: Set<RequestID> {
        state.withLock { Set($0.listeners.values.compactMap(\.request)) }
    }

    /// Tells a state that another host has brought the request to, unless it was told here.
    func catchUp(_ id: RequestID, _ found: RequestState, detail: String?, at now: WallTime) {
        let last = state.withLock { $0.recent.last { $0.request == id && $0.state != nil }?.state }
        guard last != found else { return }
        tell(LiveChange(request: id, at: now, fact: .request(found, detail: detail)))
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
    fileprivate mutating func keep(_ change: LiveChange) {
        // Now and then, so that most changes move nothing.
        if recent.count == 2 * EventHub.backlogMax { recent.removeFirst(EventHub.backlogMax) }
        recent.append(change)
    }

    fileprivate func missed(
        after last: Int64,
        by request: RequestID?,
        at now: WallTime
    ) -> [WireEvent] {
        let known = recent.suffix(EventHub.backlogMax)
        let first = lastSequence - Int64(known.count) + 1
        guard last <= lastSequence, last >= first - 1 else {
            return [WireEvent(sequence: lastSequence, kind: .reset, at: now, requestID: request)]
        }
        return zip(first..., known).compactMap { sequence, change in
            guard sequence > last, request == nil || change.request == request else { return nil }
            return change.event(sequence)
        }
    }
}
