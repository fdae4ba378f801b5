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

    package static let members: [WireMember<WireMessage>] = [
        .field("id", \.id, "The same for every attempt: `webhook-id`."),
        .field("subscriber", \.subscriber, "Its name, or `mail`."),
        .field("type", \.type, "Such as `request.completed` or `alarm.store_paused`."),
        .field("request_id", \.requestID, "The request that it is about."),
        .field("occurred_at", \.occurredAt, "When what it reports happened."),
        .field("state", \.state, "Where the message stands."),
        .field("attempts", \.attempts, "Attempts since it was queued."),
        .field("attempted_at", \.attemptedAt, "The last attempt."),
        .field("next_attempt_at", \.nextAttemptAt, "The earliest time of the next one."),
        .field("http_status", \.httpStatus, "The last answer."),
        .field("error", \.error, "Why the last attempt failed."),
    ]
}
