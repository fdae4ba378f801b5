package import Settings

/// GitHub's webhook.
package struct GitHubNotifications: NotificationFormat {
    package static let name = "github"
    package static let secretText: String? = "the webhook secret of GitHub"

    private let secretCredential: String

    package init(
        _ section: SettingsSection,
        of kind: any ProviderKind.Type,
        _ problems: inout SectionProblems
    ) {
        secretCredential = Self.needed("notification_secret_credential", section, &problems)
    }

    package func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver {
        GitHubNotificationReceiver(
            provider: setup.name,
            webhookSecret: try setup.secret(secretCredential)
        )
    }
}
