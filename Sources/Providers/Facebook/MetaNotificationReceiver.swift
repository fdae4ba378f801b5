import Cryptography
import Encoding
import HTTP
import Lifecycle
package import Settings

/// Meta's deauthorize and data deletion callbacks ("Data Deletion Request Callback").
///
/// The body is the form field `signed_request`: base64url of a raw HMAC-SHA-256 over the encoded
/// payload, a dot, and the payload, under the app secret. Both callbacks send the same, and only
/// the address tells them apart, so the web server says which it was.
package struct MetaNotificationReceiver: BareReceiver {
    /// The header field in which the web server names the callback.
    package static let callbackField = "expunged-callback"

    /// The two addresses that are configured at Meta.
    package enum Callback: String, Sendable, CaseIterable {
        case deauthorize
        case dataDeletion = "data-deletion"
    }

    let provider: ProviderName
    /// The app ids; all of them have the same secret.
    let clientIDs: [String]
    let appSecret: Secret
    /// The address of the status page, to which the code is appended.
    let statusURLPrefix: String

    /// Verifies the signature before anything in the payload is looked at.
    package func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        guard
            let callback = notification.fields[Self.callbackField].flatMap(Callback.init(rawValue:))
        else { throw refusal(.callbackNotNamed) }
        guard let request = FormFields(notification.body)?["signed_request"] else {
            throw refusal(.malformed)
        }
        let parts = Array(request.utf8).split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        guard parts.count == 2, let code = Base64URL.decode(parts[0]) else {
            throw refusal(.malformed)
        }
        let payloadBytes = Array(parts[1])
        guard appSecret.withBytes({ KeyedHash.isValid(code, key: $0, message: payloadBytes) })
        else { throw refusal(.badSignature) }
        guard let payload = Base64URL.decode(parts[1]).flatMap({ JSONValue($0) }),
            payload["algorithm"]?.string?.uppercased() == "HMAC-SHA256",
            let user = Self.text(payload["user_id"]),
            let issued = payload["issued_at"]?.number, (0...1e11).contains(issued)
        else { throw refusal(.malformed) }
        let issuedAt = WallTime(unixMilliseconds: Int64(issued * 1000))
        guard issuedAt <= notification.receivedAt + IDTokenRules.leeway else {
            throw refusal(.issuedInFuture)
        }
        let notification = ProviderNotification(
            meaning: callback == .deauthorize ? .linkCut : .deletionAsked,
            event: callback.rawValue,
            subject: Secret(user),
            clientIDs: Set(clientIDs),
            occurredAt: issuedAt + .milliseconds(999),
            dedupeKey: Secret("\(callback.rawValue)\u{0}\(user)\u{0}\(Int64(issued))")
        )
        return VerifiedNotification(
            notifications: [notification],
            acknowledgement: callback == .deauthorize
                ? .status(200) : .confirmation(statusURLPrefix: statusURLPrefix)
        )
    }

    /// App-scoped ids are text today and were numbers.
    private static func text(_ value: JSONValue?) -> String? {
        if let text = value?.string { return text.isEmpty ? nil : text }
        let number = value?.number.flatMap { abs($0) < 9e15 ? Int64(exactly: $0) : nil }
        return number.map { "\($0)" }
    }
}

/// Meta's callbacks: a user removed the app, or asked for erasure.
package struct MetaNotifications: NotificationFormat {
    package static let name = "meta"
    package static let secretText: String? = "the app secret of Meta"
    package static let settings: [Setting] = [
        .providerURL("notification_status_url", example: "https://app.example.com/deletion") {
            "Your status page for users who asked Meta for erasure."
        }
    ]

    private let secretCredential: String
    private let statusURL: String

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        secretCredential = Self.needed("notification_secret_credential", section, &problems)
        statusURL = Self.needed("notification_status_url", section, &problems)
    }

    package func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver {
        MetaNotificationReceiver(
            provider: setup.name,
            clientIDs: setup.clientIDs,
            appSecret: try setup.secret(secretCredential),
            statusURLPrefix: statusURL + "/"
        )
    }
}
