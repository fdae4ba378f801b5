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

/// How one attempt ended.
package struct SendResult: Hashable, Sendable {
    /// The status of an HTTP answer.
    package var status: Int?
    /// `nil` for a message that was delivered.
    package var failure: MessageFailure?
    /// What the receiver asked for.
    package var retryAfter: Duration?
    /// Positions of the recipients that the mail server refused for good; the others got the mail.
    package var refusedRecipients: [Int] = []

    package static let delivered = SendResult()

    package init(
        status: Int? = nil,
        failure: MessageFailure? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.failure = failure
        self.retryAfter = retryAfter
    }

    /// Whether the next message would fare the same.
    package var concernsAll: Bool {
        guard let failure else { return false }
        switch failure {
        case .unreachable, .lost, .redirected, .privateAddress, .misconfigured: return true
        case .refused:
            return status.map { $0 >= 500 || [401, 403, 404, 410, 429].contains($0) } ?? true
        case .rejected, .addressLost: return false
        }
    }
}
