import Control
import Engine
import Lifecycle
import Logging
import Synchronization
import Systemd

/// Turns what the engine did into journal entries, live events and work for the spool's mirror.
struct Reporter: EngineObserver {
    let logger: Logger
    let hub: EventHub
    let now: @Sendable () -> WallTime
    let signalMirror: @Sendable () -> Void
    var paused = Signal()
    var tokens = TokenCounter()
    var measurements = Measurements()

    func changed(_ request: Request) {
        signalMirror()
        if request.phase == .completed, request.kind == .deleteAccount {
            let end = request.endedAt ?? now()
            measurements.erased(after: end.since(request.acceptedAt))
        }
        let detail = request.phase.parkReason?.rawValue ?? request.endDetail
        let fact = LiveChange.Fact.request(request.phase.state, detail: detail)
        hub.tell(LiveChange(request: request.id, at: now(), fact: fact))
    }

    func announced(_ announcement: Announcement, of id: RequestID) {
        switch announcement {
        case .parked(.quarantined, _, _): note(.requestQuarantined, of: id)
        case .parked(.providerPaused, _, _), .parked(.storePaused, _, _),
            .parked(.massDeletionGuard, _, _), .parked(.clockBehind, _, _):
            // One entry on what they wait for stands for all.
            break
        case .parked(let reason, let provider, let answer):
            var facts: Logger.Metadata = ["detail": "\(reason.rawValue)"]
            if let provider { facts["provider"] = "\(provider)" }
            if let answer { facts["error"] = "\(answer.text)" }
            note(.requestParked, of: id, facts)
        case .resumed: note(.requestReleased, of: id)
        case .verdict(let provider, let verdict, let calls):
            measurements.decided(verdict, at: provider)
            note(verdict, at: provider, of: id, calls: calls)
        case .sealBroken(let provider):
            note(.notRevoked, of: id, ["provider": "\(provider)", "error": "seal_broken"])
        case .vaultKeyMissing(let provider):
            note(.vaultSealed, of: id, ["provider": "\(provider)", "error": "unknown_vault_key"])
        case .approved: note(.requestApproved, of: id)
        case .planChanged: note(.planChanged, of: id)
        case .purgeStarted: note(.purgeStarted, of: id)
        case .remainingRows(let store): note(.rowsRemaining, of: id, ["store": "\(store)"])
        case .blocked(let store, let obstacle):
            var facts: Logger.Metadata = ["store": "\(store)", "detail": "\(obstacle.text)"]
            facts["error"] = "\(obstacle.kind.rawValue)"
            note(.purgeBlocked, of: id, facts)
        case .completed: note(.requestCompleted, of: id, ["state": "completed"])
        case .nothingErased: note(.nothingErased, of: id)
        case .cancelled: note(.requestCancelled, of: id)
        case .abandoned: note(.requestAbandoned, of: id)
        }
    }

    private func note(
        _ event: JournalEvent,
        of id: RequestID,
        _ facts: @autoclosure () -> Logger.Metadata = [:]
    ) {
        logger.note(event, facts().merging(["request.id": "\(id)"]) { _, id in id })
    }

    private func note(_ verdict: Verdict, at provider: ProviderName, of id: RequestID, calls: Int) {
        // Made only for a level that is read: each request has a verdict.
        func facts() -> Logger.Metadata {
            var facts: Logger.Metadata = [
                "provider": "\(provider)", "verdict": "\(verdict.rawValue)",
            ]
            if calls > 0 { facts["attempt"] = "\(calls)" }
            return facts
        }
        note(.revocationVerdict, of: id, facts())
        if verdict.mayLeaveLink { note(.notRevoked, of: id, facts()) }
        hub.tell(LiveChange(request: id, at: now(), fact: .verdict(verdict, provider)))
    }

    func reported(_ report: EngineReport) {
        switch report {
        case .providerPaused(_, PauseReason.byOperator), .storePaused(_, PauseReason.byOperator):
            // `operatorAction` has it, at its own level.
            paused.fire()
        case .providerPaused(let name, let reason):
            logger.note(.providerPaused, ["provider": "\(name)", "error": "\(reason)"])
            paused.fire()
        case .providerResumed(let name): logger.note(.providerResumed, ["provider": "\(name)"])
        case .storePaused(let name, let reason):
            logger.note(.storePaused, ["store": "\(name)", "error": "\(reason)"])
            paused.fire()
        case .storeResumed(let name): logger.note(.storeResumed, ["store": "\(name)"])
        case .outageBegan(let name, let reason):
            logger.note(.outageBegan, ["provider": "\(name)", "error": "\(reason)"])
        case .outageEnded(let name, let client):
            var facts: Logger.Metadata = ["provider": "\(name)"]
            if let client { facts["detail"] = "\(client)" }
            logger.note(.outageEnded, facts)
        case .storeStuck(let name, let reason):
            logger.note(.storeStuck, ["store": "\(name)", "error": "\(reason)"])
        case .storeGoesOn(let name): logger.note(.storeGoesOn, ["store": "\(name)"])
        case .guardTripped: logger.note(.guardTripped)
        case .subjectMismatch(let name): logger.note(.subjectMismatch, ["provider": "\(name)"])
        case .codeLost(let name, let phase, let answer):
            var facts: Logger.Metadata = ["provider": "\(name)", "detail": "\(phase.rawValue)"]
            if let answer { facts["error"] = "\(answer.text)" }
            logger.note(.codeExpired, facts)
        case .tokenRotated(let name): tokens.rotations.count(name)
        case .tokenRenewed(let name, let result):
            tokens.renewals.count(TokenCounter.Renewal(provider: name, result: result))
        case .tokensExpiring(let name, let count):
            logger.note(.tokensExpiring, ["provider": "\(name)", "count": "\(count)"])
        case .unreadSources(let names, let count):
            let detail = names.joined(separator: ", ")
            logger.note(.unreadSources, ["count": "\(count)", "detail": "\(detail)"])
        case .clockBehind: logger.note(.clockBehind)
        case .called(let name, let failure, let duration):
            measurements.called(name, failure, duration)
        case .purged(let name, let answers, let duration):
            measurements.purged(name, answers, duration)
        }
    }
}

extension Logger {
    /// Writes one event of the catalog.
    ///
    /// `facts` are fields of the closed list, never secret; not made below the log level.
    func note(_ event: JournalEvent, _ facts: @autoclosure () -> Metadata = [:]) {
        let level = Level(event.severity)
        guard level >= logLevel else { return }
        var metadata = facts()
        metadata["event"] = "\(event.rawValue)"
        log(level: level, "\(event.name)", metadata: metadata)
    }
}

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
        state.withLock { state in
            if let last {
                for event in state.missed(after: last, by: request, at: now) {
                    continuation.yield(event)
                }
            }
            state.lastListener += 1
            let number = state.lastListener
            // Before the listener can be found: once ended, a stream calls nothing.
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
            state.listeners[number] = (request, continuation)
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
