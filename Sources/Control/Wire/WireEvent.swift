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

    package static let fields: [WireField] = [
        .required("sequence", .integer, "Rises with every event; also the id of the event."),
        .required("kind", .choice(of: EventKind.self), "What it is about."),
        .required("at", .time, "When it happened."),
        .optional("request_id", .uuid, "The request, if it is about one."),
        .optional("state", .text, "The state of the request, step, provider or store after it."),
        .optional("detail", .text, "Why, as a code."),
        .optional("provider", .text, "The provider, if it is about one."),
        .optional("store", .text, "The store, if it is about one."),
        .optional("step", .text, "The step, if it is about one."),
        .optional("verdict", .choice(of: Verdict.self), "The identity's verdict."),
        .optional("attempt", .integer, "The attempt that it was."),
    ]
}
