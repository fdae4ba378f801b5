import Lifecycle

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
