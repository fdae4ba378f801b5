package import Lifecycle

/// What an event is about.
package enum EventKind: String, Sendable, CaseIterable {
    case request
    case identity
    case step
    case provider
    case store
    /// Events are missing that the reader asked for: the reader must read the state again.
    case reset
}

/// One live change.
package struct WireEvent: WireObject, Codable, Hashable {
    package var sequence: Int64
    package var kind: WireValue<EventKind>
    package var at: WallTime
    package var requestID: RequestID?
    package var state: String?
    package var detail: String?
    package var provider: String?
    package var store: String?
    package var step: String?
    package var verdict: WireValue<Verdict>?
    package var attempt: Int?

    package init(sequence: Int64, kind: EventKind, at: WallTime, requestID: RequestID? = nil) {
        (self.sequence, self.kind, self.at) = (sequence, .known(kind), at)
        self.requestID = requestID
    }

    package static let members: [WireMember<WireEvent>] = [
        .field("sequence", \.sequence, "Rises with every event; also the id of the event."),
        .field("kind", \.kind, "What it is about."),
        .field("at", \.at, "When it happened."),
        .field("request_id", \.requestID, "The request, if it is about one."),
        .field("state", \.state, "The state of the request, step, provider or store after it."),
        .field("detail", \.detail, "Why, as a code."),
        .field("provider", \.provider, "The provider, if it is about one."),
        .field("store", \.store, "The store, if it is about one."),
        .field("step", \.step, "The step, if it is about one."),
        .field("verdict", \.verdict, "The identity's verdict."),
        .field("attempt", \.attempt, "The attempt that it was."),
    ]
}
