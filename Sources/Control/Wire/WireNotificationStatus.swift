package import Lifecycle

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

    package static let fields: [WireField] = [
        .required("confirmation_code", .text, "The confirmation code."),
        .required("state", .choice(of: State.self), "Where it stands."),
        .required("text", .text, "What the status page says to the user."),
        .required("received_at", .time, "When the provider's notification came."),
        .optional("completed_at", .time, "When everything was erased and verified."),
    ]
}
