package import Settings

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
