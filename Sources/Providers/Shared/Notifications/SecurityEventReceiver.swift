import Encoding
import HTTP
import Lifecycle

/// Security event tokens (RFC 8417) of Google's Cross-Account Protection and of any OpenID Shared
/// Signals transmitter, pushed as RFC 8935 says or polled as RFC 8936 says.
///
/// `exp` is not looked at: events do not expire (RFC 8417 §2.2; Google says so, too).
package struct SecurityEventReceiver: NotificationReceiver {
    /// Events in one token; they describe one occurrence (RFC 8417 §2.2).
    static let eventsMax = 16

    let provider: ProviderName
    /// What `iss` of a token and of a subject may be.
    let issuers: [String]
    /// What `aud` may name: client ids, or what the transmitter calls this receiver.
    let audiences: [String]
    /// Whether tokens must be typed as OpenID Shared Signals Framework 1.0 says.
    var isTyped = true
    let keys: PublishedKeys

    /// Verifies a pushed token: type, shape, issuer, audience, signature and time, in this order.
    package func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        if let type = notification.contentType, type != "application/secevent+jwt" {
            throw refusal(.malformed)
        }
        return try await verify(token: notification.body, at: notification.receivedAt)
    }

    func verify(
        token bytes: [UInt8],
        at now: WallTime
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        guard let token = IDToken(Secret(bytes)), hasGoodType(token) else {
            throw refusal(.malformed)
        }
        guard let issuer = token.issuer, issuers.contains(issuer) else {
            throw refusal(.wrongIssuer)
        }
        guard audiences.contains(where: { token.isFor($0) }) else {
            throw refusal(.wrongAudience)
        }
        if let kind = await keys.problem(with: token) { throw refusal(kind) }
        guard let id = token.claims["jti"]?.string, !id.isEmpty, let issuedAt = token.issuedAt,
            case .object(let events) = token.claims["events"],
            (1...Self.eventsMax).contains(events.count)
        else { throw refusal(.malformed) }
        guard issuedAt <= now + IDTokenRules.leeway else { throw refusal(.issuedInFuture) }
        let named = events.map { (uri: $0.name, event: $0.value) }
        let notifications = named.sorted { $0.uri < $1.uri }.map { uri, event in
            notification(uri, event, of: token, key: "\(issuer)\u{0}\(id)\u{0}\(uri)", issuedAt)
        }
        return VerifiedNotification(notifications: notifications, acknowledgement: .status(202))
    }

    package func shutdown() async { await keys.shutdown() }

    /// An id token of the same issuer must not pass for an event (RFC 8417 §4.5); it has no
    /// `events`, and a Shared Signals transmitter types its tokens besides.
    private func hasGoodType(_ token: IDToken) -> Bool {
        guard let type = token.type?.lowercased() else { return !isTyped }
        let isEvent = type == "secevent+jwt" || type == "application/secevent+jwt"
        return isEvent || (!isTyped && type == "jwt")
    }

    private func notification(
        _ uri: String,
        _ event: JSONValue,
        of token: IDToken,
        key: String,
        _ issuedAt: WallTime
    ) -> ProviderNotification {
        let (meaning, name) = SecurityEvent.read(uri)
        return ProviderNotification(
            meaning: meaning,
            event: name,
            subject: subject(event, token),
            clientIDs: nil,
            // Both are whole seconds: it happened before the second was over.
            occurredAt: (token.eventTime ?? issuedAt) + .milliseconds(999),
            dedupeKey: Secret(key)
        )
    }

    /// `sub_id` of the token (RFC 9493), or the subject inside the event, as Google and RISC drafts
    /// have it; only issuer and subject name somebody here.
    private func subject(_ event: JSONValue, _ token: IDToken) -> Secret? {
        let outer = token.claims["sub_id"]
        let candidates = [outer, outer?["user"], event["subject"], event["subject"]?["user"]]
        for case .some(let candidate) in candidates {
            guard let issuer = candidate["iss"]?.string, issuers.contains(issuer),
                let subject = candidate["sub"]?.string, !subject.isEmpty
            else { continue }
            return Secret(subject)
        }
        return nil
    }

    /// The codes of RFC 8935 §2.4.
    private func refusal(_ kind: NotificationRefusal.Kind) -> NotificationRefusal {
        let (code, text) = Self.error(kind)
        let body = JSONWriter.object {
            $0.member("err", code)
            $0.member("description", text)
        }
        return NotificationRefusal(
            kind,
            provider: provider,
            answer: NotificationAnswer(
                status: kind == .keysUnavailable ? 503 : 400,
                contentType: "application/json",
                body: String(decoding: body, as: UTF8.self)
            )
        )
    }

    static func error(_ kind: NotificationRefusal.Kind) -> (code: String, text: String) {
        switch kind {
        case .malformed: ("invalid_request", "not a security event token")
        case .expired, .issuedInFuture, .callbackNotNamed:
            ("invalid_request", "the time of the token is not acceptable")
        case .unknownKey: ("invalid_key", "the key is not published by the issuer")
        case .wrongIssuer: ("invalid_issuer", "the issuer is not known here")
        case .wrongAudience: ("invalid_audience", "the audience is not this receiver")
        case .badSignature: ("authentication_failed", "the signature does not fit")
        case .keysUnavailable: ("authentication_failed", "the issuer's keys cannot be read now")
        }
    }
}

/// The event types of RISC 1.0, CAEP 1.0, the OAuth profile and the Shared Signals Framework.
///
/// Only `account-purged` says that the account is gone; a session that ended says nothing about
/// tokens, and one revoked token nothing about the link.
enum SecurityEvent {
    private static let base = "https://schemas.openid.net/secevent/"

    private static let meanings: [String: NotificationMeaning] = [
        "risc/event-type/account-purged": .accountGone,
        "oauth/event-type/tokens-revoked": .linkCut,
    ]

    /// Events that are known and ask for nothing here.
    private static let others: Set<String> = [
        "risc/event-type/account-credential-change-required", "risc/event-type/account-disabled",
        "risc/event-type/account-enabled", "risc/event-type/credential-compromise",
        "risc/event-type/identifier-changed", "risc/event-type/identifier-recycled",
        "risc/event-type/recovery-activated", "risc/event-type/recovery-information-changed",
        "risc/event-type/sessions-revoked", "risc/event-type/verification",
        "oauth/event-type/token-revoked", "caep/event-type/session-revoked",
        "caep/event-type/token-claims-change", "caep/event-type/credential-change",
        "ssf/event-type/verification", "ssf/event-type/stream-updated",
    ]

    /// What an event URI means, and its short name.
    static func read(_ uri: String) -> (meaning: NotificationMeaning, name: String) {
        guard uri.hasPrefix(base) else { return (.other, "other") }
        let path = String(uri.dropFirst(base.count))
        let meaning = meanings[path]
        guard meaning != nil || others.contains(path) else { return (.other, "other") }
        return (meaning ?? .other, String(path.split(separator: "/").last ?? "other"))
    }
}
