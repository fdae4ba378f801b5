package import Lifecycle

/// A way on which messages leave.
package protocol MessageChannel: Sendable {
    /// Makes one attempt; it ends within a bounded time.
    func send(_ message: OutgoingMessage) async -> SendResult

    func shutdown() async
}

/// What a message says, and its id.
package struct OutgoingMessage: Hashable, Sendable {
    package let id: MessageID
    package let topic: MessageTopic
    /// Of the request; the severity of an alarm.
    package let kind: String
    /// The state of the request; the event of an alarm.
    package let subject: String
    /// The reason of the state; the sentence of an alarm.
    package let detail: String?
    package let request: RequestID?
    package let occurredAt: WallTime

    package init(
        id: MessageID,
        topic: MessageTopic,
        kind: String,
        subject: String,
        detail: String?,
        request: RequestID?,
        occurredAt: WallTime
    ) {
        self.id = id
        self.topic = topic
        self.kind = kind
        self.subject = subject
        self.detail = detail
        self.request = request
        self.occurredAt = occurredAt
    }
}
