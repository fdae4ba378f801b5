package import Lifecycle

/// Why a notification was not believed.
package struct NotificationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of causes.
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
    }

    package let kind: Kind
    package let provider: ProviderName
    package let answer: NotificationAnswer

    package init(_ kind: Kind, provider: ProviderName, answer: NotificationAnswer) {
        self.kind = kind
        self.provider = provider
        self.answer = answer
    }

    package var description: String {
        "cannot accept the notification of '\(provider)' (\(kind.rawValue))"
    }
}
