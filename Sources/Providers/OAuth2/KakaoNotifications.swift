package import Settings

/// Kakao's webhook; Kakao is a preset of this kind.
package struct KakaoNotifications: NotificationFormat {
    package static let name = "kakao"
    package static let secretText: String? = "the admin key of Kakao"

    private let secretCredential: String

    package init(
        _ section: SettingsSection,
        of kind: any ProviderKind.Type,
        _ problems: inout SectionProblems
    ) {
        secretCredential = Self.needed("notification_secret_credential", section, &problems)
    }

    package func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver {
        KakaoNotificationReceiver(
            provider: setup.name,
            adminKey: try setup.secret(secretCredential)
        )
    }
}
