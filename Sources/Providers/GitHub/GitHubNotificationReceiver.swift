import Cryptography
import Encoding
import HTTP
package import Lifecycle

/// GitHub's webhook `github_app_authorization`, action `revoked`
/// (docs.github.com, "Webhook events and payloads"); every GitHub App gets it, an OAuth app never.
///
/// `X-Hub-Signature-256` is the HMAC-SHA-256 of the body under the webhook's secret. Neither a time
/// nor the delivery's id is signed, so a copy of an old delivery looks new: it is a hint.
package struct GitHubNotificationReceiver: BareReceiver, SharedSecretReceiver {
    package static let name = "github"
    package static let secretText = "the webhook secret of GitHub"

    let provider: ProviderName
    private let webhookSecret: Secret

    package init(provider: ProviderName, secret: Secret) {
        self.provider = provider
        webhookSecret = secret
    }

    /// Verifies the signature before anything in the body is looked at.
    package func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        let (prefix, bytes) = ("sha256=", notification.body)
        guard let signature = notification.fields["x-hub-signature-256"],
            signature.hasPrefix(prefix),
            let code = Hexadecimal.decode(signature.utf8.dropFirst(prefix.count)),
            webhookSecret.withBytes({ KeyedHash.isValid(code, key: $0, message: bytes) })
        else { throw refusal(.badSignature, status: 401) }
        guard let body = JSONValue(notification.body), case .object = body else {
            throw refusal(.malformed)
        }
        let event = notification.fields["x-github-event"]
        let isRevoked =
            event == "github_app_authorization" && body["action"]?.string == "revoked"
        let id = body["sender"]?["id"]?.number.flatMap { number in
            (1..<9e15).contains(number) && number.rounded() == number ? Int64(number) : nil
        }
        // The delivery's id is not signed; the body is, and is part of the key.
        let digest = Hexadecimal.text(SHA256.hash(notification.body))
        let notification = ProviderNotification(
            meaning: isRevoked ? .linkCutUndated : .other,
            event: isRevoked ? "github_app_authorization" : "other",
            subject: isRevoked ? id.map { Secret("\($0)") } : nil,
            clientIDs: nil,
            occurredAt: notification.receivedAt,
            dedupeKey: Secret((notification.fields["x-github-delivery"] ?? "") + "\u{0}" + digest)
        )
        return VerifiedNotification(notifications: [notification], acknowledgement: .status(202))
    }
}
