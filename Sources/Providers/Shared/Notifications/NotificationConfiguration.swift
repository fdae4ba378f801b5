package import Lifecycle
package import Settings

/// What a provider's notifications are verified by, and what is done about them.
package struct NotificationConfiguration: Sendable {
    /// `nil`: none are accepted.
    package let format: (any NotificationFormat)?
    package let policy: NotificationPolicy
    /// How they are fetched; `nil` where they are pushed.
    package let poll: SecurityEventPolling?

    init(
        _ section: SettingsSection,
        of kind: any ProviderKind.Type,
        among formats: [any NotificationFormat.Type],
        _ problems: inout SectionProblems
    ) {
        let type = section.text("notifications").map { name in formats.first { $0.name == name } }
        format = (type ?? kind.usualFormat)?.init(section, &problems)
        policy = NotificationPolicy(
            onAccountDeleted: section.choice("on_account_deleted") ?? .report,
            onLinkCut: section.choice("on_link_cut") ?? .report
        )
        poll = (format as? SecurityEvents).flatMap { SecurityEventPolling(section, $0) }
        if poll == nil, let url = section.text("notification_poll_url") {
            problems.report(
                .contradiction,
                "notification_poll_url",
                value: url,
                "only notifications = \"\(SecurityEvents.name)\" can be fetched"
            )
        }
    }

    /// Keys that may name a credential which is not needed.
    package var unusedCredentialKeys: [String] {
        (format == nil ? ["notification_secret_credential"] : [])
            + (poll == nil ? ["notification_poll_token_credential"] : [])
    }

    /// `nil` when none are accepted.
    package func makeReceiver(_ setup: ProviderSetup) throws -> (any NotificationReceiver)? {
        try format?.makeReceiver(setup)
    }
}

extension NotificationConfiguration {
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
                "Issuer of security event tokens. Default: the key issuer of the provider, \(own)."
            },
            .provider(
                "notification_audiences",
                .texts(.clientID, 1...64),
                .optional(example: .texts(["https://app.example.com/events"]))
            ) { "Audiences of security event tokens. Default: the client ids." },
            .providerURL("notification_keys_url", example: "https://sso.example.com/jwks") {
                "Key set (jwks_uri) that verifies security event tokens. Default: \(own)."
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

/// A format of notifications: its settings, and what verifies them.
package protocol NotificationFormat: Sendable {
    /// The value of `notifications`.
    static var name: String { get }
    /// What `notification_secret_credential` holds; `nil` for a format without a shared secret.
    static var secretText: String? { get }
    static var settings: [Setting] { get }

    init(_ section: SettingsSection, _ problems: inout SectionProblems)

    /// - Throws: What keeps it from being set up, in one line.
    func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver
}

extension NotificationFormat {
    package static var secretText: String? { nil }
    package static var settings: [Setting] { [] }

    static func needed(
        _ key: String,
        _ section: SettingsSection,
        _ problems: inout SectionProblems
    ) -> String {
        if section.text(key) == nil { Self.reportMissing(key, &problems) }
        return section.requiredText(key)
    }

    static func reportMissing(_ key: String, _ problems: inout SectionProblems) {
        problems.report(.missingKey, key, "notifications = \"\(name)\" needs it")
    }
}

/// A receiver that needs one shared secret and nothing else.
package protocol SharedSecretReceiver: NotificationReceiver {
    static var name: String { get }
    static var secretText: String { get }

    init(provider: ProviderName, secret: Secret)
}

/// The format of a ``SharedSecretReceiver``.
package struct SharedSecretNotifications<Receiver: SharedSecretReceiver>: NotificationFormat {
    package static var name: String { Receiver.name }
    package static var secretText: String? { Receiver.secretText }

    private let secretCredential: String

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        secretCredential = Self.needed("notification_secret_credential", section, &problems)
    }

    package func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver {
        Receiver(provider: setup.name, secret: try setup.secret(secretCredential))
    }
}
