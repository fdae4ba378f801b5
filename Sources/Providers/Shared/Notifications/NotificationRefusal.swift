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
