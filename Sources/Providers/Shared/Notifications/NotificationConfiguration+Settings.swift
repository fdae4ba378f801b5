import Lifecycle
import Settings

extension NotificationConfiguration {
    /// The keys that every kind of provider has for notifications.
    static func settings(_ kinds: [any ProviderKind.Type]) -> [Setting] {
        let formats = kinds.flatMap { $0.notificationFormats }
        let secrets = formats.compactMap { $0.secretText }.joined(separator: ", ")
        return [format(kinds, formats)] + effects + SecurityEvents.settings(kinds)
            + [
                .providerSecret(
                    "notification_secret_credential",
                    .optional(example: .text("webhook-secret"))
                ) {
                    "Credential that authenticates notifications: \(secrets)."
                }
            ] + formats.flatMap { $0.settings } + SecurityEvents.polling
    }

    private static func format(
        _ kinds: [any ProviderKind.Type],
        _ formats: [any NotificationFormat.Type]
    ) -> Setting {
        let usual = kinds.compactMap { kind in
            kind.usualFormat.map { "\"\($0.name)\" for kind \"\(kind.name)\"" }
        }
        return .provider(
            "notifications",
            .choice(["off"] + formats.map { $0.name }),
            .optional(example: .text(SecurityEvents.name))
        ) {
            "Format of the provider's notifications; \"\(SecurityEvents.name)\" is OpenID Shared "
                + "Signals. Default: " + usual.joined(separator: ", ") + ", else \"off\"."
        }
    }

    private static let effects: [Setting] = [
        .providerChoice(
            "on_account_deleted",
            defaultsTo: NotificationPolicy.OnAccountDeleted.deleteAccount
        ) {
            """
            When the user's account at the provider is gone, or the user asked for erasure there: \
            submit a deletion, or log a warning.
            """
        },
        .providerChoice("on_link_cut", defaultsTo: NotificationPolicy.OnLinkCut.update) {
            """
            When the user removed the application at the provider: end an open revocation with \
            this evidence, or log a warning.
            """
        },
    ]
}

extension SecurityEvents {
    static func settings(_ kinds: [any ProviderKind.Type]) -> [Setting] {
        let own = kinds.compactMap { $0 as? any SecurityEventTransmitter.Type }
            .map { "for kind \"\($0.name)\" \($0.vendor)'s own" }.joined(separator: ", ")
        return [
            .providerURL("notification_issuer", example: "https://sso.example.com") {
                """
                Issuer of security event tokens. Default: the key issuer of the provider, \(own).
                """
            },
            .provider(
                "notification_audiences",
                .texts(.clientID, 1...64),
                .optional(example: .texts(["https://app.example.com/events"]))
            ) { "Audiences of security event tokens. Default: the client ids." },
            .providerURL("notification_keys_url", example: "https://sso.example.com/jwks") {
                """
                Key set (jwks_uri) that verifies security event tokens. Default: \(own).
                """
            },
        ]
    }

    static let polling: [Setting] = [
        .providerURL("notification_poll_url", example: "https://sso.example.com/events/poll") {
            "Where to fetch security events (RFC 8936)."
        }.atRestart(),
        .providerSecret(
            "notification_poll_token_credential",
            .optional(example: .text("events-token"))
        ) {
            "Bearer token for notification_poll_url."
        }.atRestart(),
        .provider(
            "notification_poll_interval",
            .duration(.seconds(10) ... .days(1)),
            .defaultsTo(.duration(.seconds(300)))
        ) { "How often to fetch security events." }.atRestart(),
    ]
}
