import Encoding
import HTTP
import Lifecycle
package import Settings

/// Apple's server-to-server notifications ("Processing changes for Sign in with Apple accounts").
///
/// `{"payload": "<JWS>"}`, signed with the keys of the id tokens. `events` is documented as an
/// object and sent as a string that holds JSON (developer.apple.com/forums/thread/655485); an array
/// is taken, too. Account deletion is spelled `account-deleted` in today's documentation and
/// `account-delete` in older ones; both are the same.
package struct AppleNotificationReceiver: BareReceiver {
    /// Events in one notification; Apple sends one.
    static let eventsMax = 16

    let provider: ProviderName
    /// Bundle ids and Services IDs; `aud` must be one of them.
    let clientIDs: [String]
    let keys: PublishedKeys

    /// Verifies shape, issuer, audience, signature and times, in this order.
    package func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        guard let payload = JSONValue(notification.body)?["payload"]?.string,
            let token = IDToken(Secret(payload))
        else { throw refusal(.malformed) }
        guard token.issuer == AppleKind.issuer else { throw refusal(.wrongIssuer) }
        let audience = Set(clientIDs.filter { token.isFor($0) })
        guard !audience.isEmpty else { throw refusal(.wrongAudience) }
        if let kind = await keys.problem(with: token) {
            throw refusal(kind, status: kind == .keysUnavailable ? 503 : 400)
        }
        guard let issuedAt = token.issuedAt, let expiresAt = token.expiresAt,
            let id = token.claims["jti"]?.string, !id.isEmpty
        else { throw refusal(.malformed) }
        let now = notification.receivedAt
        guard now < expiresAt + IDTokenRules.leeway else { throw refusal(.expired) }
        guard issuedAt <= now + IDTokenRules.leeway else { throw refusal(.issuedInFuture) }
        guard let events = Self.events(token.claims["events"]) else { throw refusal(.malformed) }
        return VerifiedNotification(
            notifications: events.enumerated().map { index, event in
                Self.notification(
                    event,
                    audience: audience,
                    key: "\(id)#\(index)",
                    issuedAt: issuedAt
                )
            },
            acknowledgement: .status(200)
        )
    }

    package func shutdown() async { await keys.shutdown() }

    private static func events(_ value: JSONValue?) -> [JSONValue]? {
        var value = value
        if let text = value?.string { value = JSONValue(Array(text.utf8)) }
        switch value {
        case .object: return value.map { [$0] }
        case .array(let events):
            guard (1...eventsMax).contains(events.count) else { return nil }
            for event in events { guard case .object = event else { return nil } }
            return events
        default: return nil
        }
    }

    private static func notification(
        _ event: JSONValue,
        audience: Set<String>,
        key: String,
        issuedAt: WallTime
    ) -> ProviderNotification {
        let type = event["type"]?.string ?? ""
        let meaning: NotificationMeaning =
            switch type {
            case "account-deleted", "account-delete": .accountGone
            case "consent-revoked": .linkCut
            default: .other
            }
        let isKnown = meaning != .other || type == "email-disabled" || type == "email-enabled"
        // Milliseconds; a value that cannot be one falls back to when Apple signed.
        let time = event["event_time"]?.number.flatMap { (1e12...1e14).contains($0) ? $0 : nil }
        return ProviderNotification(
            meaning: meaning,
            event: isKnown ? type : "other",
            subject: event["sub"]?.string.flatMap { $0.isEmpty ? nil : Secret($0) },
            clientIDs: audience,
            occurredAt: time.map { WallTime(unixMilliseconds: Int64($0)) } ?? issuedAt,
            dedupeKey: Secret(key)
        )
    }
}

/// Apple's server-to-server notifications.
package struct AppleNotifications: NotificationFormat {
    package static let name = "apple"

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {}

    /// The same keys sign id tokens and notifications ("Fetch Apple's public key").
    package func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver {
        let base = (setup.provider.kind as? AppleKind)?.baseURL ?? AppleKind.issuer
        return AppleNotificationReceiver(
            provider: setup.name,
            clientIDs: setup.clientIDs,
            keys: try setup.keys(at: base + "/auth/keys")
        )
    }
}
