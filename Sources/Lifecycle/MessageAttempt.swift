/// What an attempt to deliver a message came to.
package struct MessageAttempt: Hashable, Sendable {
    package let id: MessageID
    package let at: WallTime
    package let status: Int?
    /// What failed; of a message that was delivered, what did not reach some of its recipients.
    package let failure: String?
    package let isDelivered: Bool
    /// The next attempt; `nil` when there is none.
    package let nextAt: WallTime?

    package init(
        _ id: MessageID,
        at: WallTime,
        status: Int? = nil,
        failure: String? = nil,
        isDelivered: Bool? = nil,
        nextAt: WallTime? = nil
    ) {
        (self.id, self.at, self.status, self.failure) = (id, at, status, failure)
        self.isDelivered = isDelivered ?? (failure == nil)
        self.nextAt = nextAt
    }

    /// Judges one attempt, after `attempts` earlier ones.
    ///
    /// A failure that is not final has another attempt, for `retryFor` after the message was
    /// queued.
    package init(
        of id: MessageID,
        attempts: Int,
        begunAt: WallTime,
        _ result: SendResult,
        retryFor: Duration,
        at now: WallTime
    ) {
        var nextAt: WallTime?
        if let failure = result.failure, !failure.isFinal, now.since(begunAt) < retryFor {
            let delay = RetryPolicy.message.delay(failures: attempts + 1)
            nextAt = now + max(delay, result.retryAfter ?? .zero)
        }
        self.init(
            id,
            at: now,
            status: result.status,
            failure: result.failure?.rawValue
                ?? (result.refusedRecipients.isEmpty ? nil : "recipients_refused"),
            isDelivered: result.failure == nil,
            nextAt: nextAt
        )
    }

    /// Whether no attempt follows that could deliver it.
    package var isGivenUp: Bool { !isDelivered && nextAt == nil }
}
