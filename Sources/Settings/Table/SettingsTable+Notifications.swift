import Lifecycle

extension SettingsTable {
    /// What a provider tells: keys that every kind has.
    static let notifications: [Setting] = [
        Setting(
            .provider,
            "notifications",
            .choice(NotificationFormat.allCases.map(\.rawValue)),
            .optional(example: .text(NotificationFormat.securityEvents.rawValue)),
            """
            How the provider tells what happens to its users: Apple's server-to-server \
            notifications, security event tokens (Google, OpenID Shared Signals), Meta's \
            callbacks, GitHub's or Kakao's webhook. Unless given, "apple" for kind "apple", \
            "security_events" for kind "google", else "off".
            """
        ),
        Setting(
            .provider,
            "on_account_deleted",
            .choice(NotificationPolicy.OnAccountDeleted.allCases.map(\.rawValue)),
            .defaultsTo(.text(NotificationPolicy.OnAccountDeleted.deleteAccount.rawValue)),
            """
            What happens when the provider tells that the user's account there is gone, or that \
            the user asked there for erasure: "delete_account" hands in a deletion of the user, \
            "report" writes a warning to the journal.
            """
        ),
        Setting(
            .provider,
            "on_link_cut",
            .choice(NotificationPolicy.OnLinkCut.allCases.map(\.rawValue)),
            .defaultsTo(.text(NotificationPolicy.OnLinkCut.update.rawValue)),
            """
            What happens when the provider tells that the user's link to the application is cut: \
            "update" takes it as evidence, so that a revocation ends with it, "report" writes a \
            warning to the journal.
            """
        ),
        Setting(
            .provider,
            "notification_issuer",
            .text(.url),
            .optional(example: .text("https://sso.example.com")),
            """
            The issuer of security event tokens. Unless given, the key issuer of the provider, or \
            for kind "google" Google's own.
            """
        ),
        Setting(
            .provider,
            "notification_audiences",
            .texts(.clientID, 1...64),
            .optional(example: .texts(["https://app.example.com/events"])),
            "What security event tokens may be addressed to. Unless given, the client ids."
        ),
        Setting(
            .provider,
            "notification_keys_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/jwks")),
            """
            The key set (jwks_uri) that security event tokens are checked with. Unless given, for \
            kind "google" Google's own.
            """
        ),
        Setting(
            .provider,
            "notification_secret_credential",
            .text(.credential),
            .optional(example: .text("webhook-secret")),
            """
            The credential that proves notifications: the app secret of Meta, the webhook secret \
            of GitHub, the admin key of Kakao.
            """
        ).secret(),
        Setting(
            .provider,
            "notification_status_url",
            .text(.url),
            .optional(example: .text("https://app.example.com/deletion")),
            """
            The page that Meta shows to users who asked for erasure; a slash and the confirmation \
            code are appended.
            """
        ),
        Setting(
            .provider,
            "notification_poll_url",
            .text(.url),
            .optional(example: .text("https://sso.example.com/events/poll")),
            """
            Where security events are fetched (RFC 8936), for a machine that nobody can push to. \
            Unless given, nothing is fetched.
            """
        ).atRestart(),
        Setting(
            .provider,
            "notification_poll_token_credential",
            .text(.credential),
            .optional(example: .text("events-token")),
            "The credential that holds the bearer token for notification_poll_url."
        ).secret().atRestart(),
        Setting(
            .provider,
            "notification_poll_interval",
            .duration(.seconds(10) ... .days(1)),
            .defaultsTo(.duration(.seconds(300))),
            "How often security events are fetched."
        ).atRestart(),
    ]
}
