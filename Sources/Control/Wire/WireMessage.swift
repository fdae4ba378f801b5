package import Lifecycle

/// A message that the service sends to a subscriber or by mail, and how its delivery goes.
package struct WireMessage: WireObject, Codable, Hashable {
    package var id: MessageID
    package var subscriber: String
    package var type: String
    package var requestID: RequestID?
    package var occurredAt: WallTime
    package var state: WireValue<MessageState>
    package var attempts: Int
    package var attemptedAt: WallTime?
    package var nextAttemptAt: WallTime?
    package var httpStatus: Int?
    package var error: String?

    /// Where a message stands.
    package enum MessageState: String, Sendable, CaseIterable {
        case waiting
        case delivered
        case givenUp = "given_up"
    }

    package init(
        id: MessageID,
        subscriber: String,
        type: String,
        occurredAt: WallTime,
        state: MessageState,
        attempts: Int
    ) {
        (self.id, self.subscriber, self.type, self.occurredAt) = (id, subscriber, type, occurredAt)
        (self.state, self.attempts) = (.known(state), attempts)
    }

    package static let fields: [WireField] = [
        .required("id", .text, "The same for every attempt: `webhook-id`."),
        .required("subscriber", .text, "Its name, or `mail`."),
        .required("type", .text, "Such as `request.completed` or `alarm.store_paused`."),
        .optional("request_id", .uuid, "The request that it is about."),
        .required("occurred_at", .time, "When what it reports happened."),
        .required("state", .choice(of: MessageState.self), "Where the message stands."),
        .required("attempts", .integer, "Attempts since it was queued."),
        .optional("attempted_at", .time, "The last attempt."),
        .optional("next_attempt_at", .time, "The earliest time of the next one."),
        .optional("http_status", .integer, "The last answer."),
        .optional("error", .text, "Why the last attempt failed."),
    ]
}
