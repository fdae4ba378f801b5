import Encoding
package import Lifecycle

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

/// One verified fact that a provider reports about one of its users.
///
/// Holds a subject, so every textual view is redacted.
package struct ProviderNotification: Sendable, CustomStringConvertible, CustomReflectable {
    package let meaning: NotificationMeaning
    /// The vendor's word for it, out of a closed list; `other` for every other one.
    package let event: String
    /// The provider's name for the user; `nil` when the notification names no user known here.
    package let subject: Secret?
    /// The clients that it is about; `nil` when it is about all of the provider's.
    package let clientIDs: Set<String>?
    /// When it happened, as the provider says, or when it arrived if the provider does not say.
    package let occurredAt: WallTime
    /// The same for every delivery of the same notification; may name the user.
    package let dedupeKey: Secret

    package var description: String { "\(event) [redacted]" }
    package var customMirror: Mirror { Mirror(self, children: ["event": event]) }
}

/// A notification that was verified: what it says, and how the provider wants it answered.
package struct VerifiedNotification: Sendable {
    /// Not empty.
    package let notifications: [ProviderNotification]
    package let acknowledgement: NotificationAcknowledgement
}

/// How a provider wants a notification answered that was taken.
package enum NotificationAcknowledgement: Hashable, Sendable {
    case status(Int)
    /// 200 with the address of a status page, which ends with the code, and the code
    /// (Meta, "Data Deletion Request Callback").
    case confirmation(statusURLPrefix: String)
}

/// What a provider sent to the application's web server, as it was handed on.
///
/// Holds a subject and sometimes a shared secret, so every textual view is redacted.
package struct IncomingNotification: Sendable, Redacted {
    /// The body, byte for byte: signatures cover it.
    package let body: [UInt8]
    /// Header fields by their names in lower case.
    package let fields: [String: String]
    package let receivedAt: WallTime

    package init(body: [UInt8], fields: [String: String] = [:], receivedAt: WallTime) {
        (self.body, self.fields, self.receivedAt) = (body, fields, receivedAt)
    }

    /// The type and subtype of `content-type`, in lower case (RFC 9110 §8.3.1).
    var contentType: String? {
        fields["content-type"].map { type in
            String(type.prefix { $0 != ";" && $0 != " " }).lowercased()
        }
    }
}

/// Why a notification was not believed.
package struct NotificationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that it breaks.
    package enum Kind: String, Sendable, CaseIterable {
        case malformed
        case badSignature = "bad_signature"
        case unknownKey = "unknown_key"
        case wrongIssuer = "wrong_issuer"
        case wrongAudience = "wrong_audience"
        case expired
        case issuedInFuture = "issued_in_future"
        /// Meta sends the same body to two addresses; the web server must say which it was.
        case callbackNotNamed = "callback_not_named"
        /// The provider's keys cannot be read now; nothing is known about the notification.
        case keysUnavailable = "keys_unavailable"

        var reason: String {
            switch self {
            case .malformed: "it is not what the provider documents"
            case .badSignature: "the signature is not the provider's"
            case .unknownKey: "the provider has no such signing key"
            case .wrongIssuer: "another provider issued it"
            case .wrongAudience: "it is for another client id"
            case .expired: "it has expired"
            case .issuedInFuture: "it was issued in the future; check the clock"
            case .callbackNotNamed: "the web server does not say which address it came to"
            case .keysUnavailable: "the provider's keys cannot be read now"
            }
        }
    }

    package let kind: Kind
    package let provider: ProviderName
    package let answer: NotificationAnswer

    package init(_ kind: Kind, provider: ProviderName, answer: NotificationAnswer) {
        (self.kind, self.provider, self.answer) = (kind, provider, answer)
    }

    package var description: String {
        "cannot accept the notification of '\(provider)' (\(kind.rawValue)): \(kind.reason)"
    }
}

/// What the web server answers the provider, word for word.
package struct NotificationAnswer: Hashable, Sendable {
    package let status: Int
    /// `nil` when there is no body.
    package let contentType: String?
    package let body: String

    package init(status: Int, contentType: String? = nil, body: String = "") {
        (self.status, self.contentType, self.body) = (status, contentType, body)
    }
}
