package import Lifecycle
package import Settings

/// A receiver that needs one shared secret and nothing else.
package protocol SharedSecretReceiver: NotificationReceiver {
    /// ``NotificationFormat/name``.
    static var name: String { get }
    /// ``NotificationFormat/secretText``.
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
