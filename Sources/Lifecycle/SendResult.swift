/// How one attempt to send a message ended.
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
        (self.status, self.failure, self.retryAfter) = (status, failure, retryAfter)
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
