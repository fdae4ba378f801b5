package import Settings

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
