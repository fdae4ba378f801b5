import Lifecycle

/// Believes or refuses what one provider tells.
package protocol NotificationReceiver: Sendable {
    /// Verifies a notification; nothing is remembered, so a replay verifies again.
    ///
    /// - Throws: ``NotificationRefusal`` for the first rule that is broken.
    func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification

    /// Closes connections; must be called before the receiver is released.
    func shutdown() async
}

extension NotificationReceiver {
    package func shutdown() async {}
}

/// A receiver whose refusals are a status and nothing else.
protocol BareReceiver: NotificationReceiver {
    var provider: ProviderName { get }
}

extension BareReceiver {
    func refusal(_ kind: NotificationRefusal.Kind, status: Int = 400) -> NotificationRefusal {
        NotificationRefusal(kind, provider: provider, answer: NotificationAnswer(status: status))
    }
}
