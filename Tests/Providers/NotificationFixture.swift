import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// Notifications as vendors document them, signed with the keys of the tests.
enum NotificationFixture {
    static let provider = ProviderName("p")
    static let now = IDTokenGenerator.now

    /// The key set that ``IDTokenGenerator`` signs with.
    static let keys = PublishedKeys(
        SigningKeyCache(now: { now }) { SigningKeySet(Array(IDTokenGenerator.jwks.utf8)) }
    )

    /// Keys that cannot be read.
    static let noKeys = PublishedKeys(SigningKeyCache(now: { now }) { nil })

    static func incoming(
        _ body: String,
        _ fields: [String: String] = [:]
    ) -> IncomingNotification {
        IncomingNotification(body: Array(body.utf8), fields: fields, receivedAt: now)
    }

    /// What a receiver says, as facts that can be compared.
    struct Said: Equatable {
        var meaning: NotificationMeaning
        var event: String
        var subject: String?
        var milliseconds: Int64
    }

    static func said(_ verified: VerifiedNotification) -> [Said] {
        verified.notifications.map {
            Said(
                meaning: $0.meaning,
                event: $0.event,
                subject: $0.subject?.exposeText(),
                milliseconds: $0.occurredAt.unixMilliseconds
            )
        }
    }

    /// Why a receiver refuses, or `nil` when it does not.
    static func refusal(
        _ receiver: some NotificationReceiver,
        _ notification: IncomingNotification
    ) async -> NotificationRefusal? {
        do {
            _ = try await receiver.verify(notification)
            return nil
        } catch {
            return error
        }
    }
}
