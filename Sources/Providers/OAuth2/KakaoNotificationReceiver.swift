import Encoding
import HTTP
package import Lifecycle

/// Kakao's unlink webhook (developers.kakao.com, "Callback").
///
/// Proved by `Authorization: KakaoAK <primary admin key>` alone; nothing is signed, and there is no
/// time in it, so it is a hint. Kakao sends it by POST or GET: of a GET
/// the web server hands on the query as the body. Not sent for an unlink of our own.
package struct KakaoNotificationReceiver: BareReceiver, SharedSecretReceiver {
    package static let name = "kakao"
    package static let secretText = "the admin key of Kakao"

    let provider: ProviderName
    private let adminKey: Secret

    package init(provider: ProviderName, secret: Secret) {
        self.provider = provider
        adminKey = secret
    }

    /// Verifies the admin key before anything in the body is looked at.
    package func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        let scheme = "kakaoak "
        guard let authorization = notification.fields["authorization"],
            authorization.prefix(scheme.count).lowercased() == scheme,
            Secret(String(authorization.dropFirst(scheme.count))).isEqual(to: adminKey)
        else { throw refusal(.badSignature, status: 401) }
        guard let form = FormFields(notification.body), let user = form["user_id"], !user.isEmpty,
            let reason = form["referrer_type"]
        else { throw refusal(.malformed) }
        let meaning = Self.meanings[reason]
        // The same user may link and unlink again; without an id or a time, one delivery and its
        // repetition are told from two of them by the minute.
        let minute = notification.receivedAt.unixMilliseconds / 60_000
        let notification = ProviderNotification(
            meaning: meaning ?? .other,
            event: meaning == nil ? "other" : reason,
            subject: Secret(user),
            clientIDs: nil,
            occurredAt: notification.receivedAt,
            dedupeKey: Secret("\(user)\u{0}\(reason)\u{0}\(minute)")
        )
        return VerifiedNotification(notifications: [notification], acknowledgement: .status(200))
    }

    private static let meanings: [String: NotificationMeaning] = [
        "ACCOUNT_DELETE": .accountGoneUndated, "FORCED_ACCOUNT_DELETE": .accountGoneUndated,
        "UNLINK_FROM_APPS": .linkCutUndated, "UNLINK_FROM_ADMIN": .linkCutUndated,
        "INCOMPLETE_SIGN_UP": .linkCutUndated,
    ]
}
