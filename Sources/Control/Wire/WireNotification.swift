package import Lifecycle

/// What the web server answers the provider, and what the notification did.
package struct WireNotification: WireObject, Codable, Hashable {
    package var status: Int
    package var contentType: String?
    package var body: String
    package var effect: WireValue<NotificationEffect>
    package var reason: String?
    package var requestID: RequestID?

    package init(
        status: Int,
        contentType: String? = nil,
        body: String = "",
        effect: NotificationEffect,
        reason: String? = nil,
        requestID: RequestID? = nil
    ) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
        (self.effect, self.reason, self.requestID) = (.known(effect), reason, requestID)
    }

    package static let members: [WireMember<WireNotification>] = [
        .field("status", \.status, "The status to answer the provider with."),
        .field("content_type", \.contentType, "The type of the body; left out when there is none."),
        .field("body", \.body, "The body to answer the provider with; may be empty."),
        .field("effect", \.effect, "What the notification did."),
        .field("reason", \.reason, "Why it was refused, as a code."),
        .field("request_id", \.requestID, "The request that it made, joined or closed."),
    ]
}

/// Where the erasure stands that a user asked a provider for; for the status page.
package struct WireNotificationStatus: WireObject, Codable, Hashable {
    /// Coarser than the states of a request: it is for the user.
    package enum State: String, Sendable, CaseIterable {
        case received
        case inProgress = "in_progress"
        case completed
        case nothingToDo = "nothing_to_do"
        /// Nothing happens by itself; the text says whom to ask.
        case needsAttention = "needs_attention"
    }

    package var confirmationCode: String
    package var state: WireValue<State>
    package var text: String
    package var receivedAt: WallTime
    package var completedAt: WallTime?

    package init(
        confirmationCode: String,
        state: State,
        text: String,
        receivedAt: WallTime,
        completedAt: WallTime? = nil
    ) {
        (self.confirmationCode, self.state, self.text) = (confirmationCode, .known(state), text)
        (self.receivedAt, self.completedAt) = (receivedAt, completedAt)
    }

    package static let members: [WireMember<WireNotificationStatus>] = [
        .field("confirmation_code", \.confirmationCode, "The confirmation code."),
        .field("state", \.state, "Where it stands."),
        .field("text", \.text, "What the status page says to the user."),
        .field("received_at", \.receivedAt, "When the provider's notification came."),
        .field("completed_at", \.completedAt, "When everything was erased and verified."),
    ]
}
