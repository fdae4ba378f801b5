package import Lifecycle

/// How a provider tells what happens to its users; the values of `notifications`.
package enum NotificationFormat: String, Sendable, CaseIterable {
    case off
    case apple
    case securityEvents = "security_events"
    case meta
    case github
    case kakao

    /// What a kind of provider sends when the key is not given and nothing more is needed.
    static func preset(family: String) -> NotificationFormat {
        switch family {
        case "apple": .apple
        case "google": .securityEvents
        default: .off
        }
    }
}

/// What a provider's notifications are verified by, and what is done about them.
package struct NotificationConfiguration: Hashable, Sendable {
    /// Google's key set (accounts.google.com/.well-known/risc-configuration names it).
    static let googleKeysURL = "https://www.googleapis.com/oauth2/v3/certs"

    package let format: NotificationFormat
    package let policy: NotificationPolicy
    /// `security_events` only; `nil`: Google's.
    package let issuer: String?
    /// `security_events` only; empty: the client ids.
    package let audiences: [String]
    /// `security_events` only.
    package let keysURL: String?
    /// The secret that signs, or that is sent along.
    package let secretCredential: String?
    /// `meta` only: the confirmation code is appended.
    package let statusURL: String?
    package let poll: NotificationPollConfiguration?

    /// The credentials that are needed, and the keys that name them.
    var credentials: [(name: String, key: String)] {
        let secret = format == .off ? nil : secretCredential
        return [
            secret.map { ($0, "notification_secret_credential") },
            poll?.tokenCredential.map { ($0, "notification_poll_token_credential") },
        ].compactMap(\.self)
    }
}

/// Where security events are fetched, instead of being pushed (RFC 8936).
package struct NotificationPollConfiguration: Hashable, Sendable {
    package let url: String
    /// The bearer token, if the transmitter wants one.
    package let tokenCredential: String?
    package let interval: Duration
}
