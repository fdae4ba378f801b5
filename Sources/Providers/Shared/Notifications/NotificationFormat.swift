package import Lifecycle
package import Settings

/// A format of notifications: its settings, and what verifies them.
package protocol NotificationFormat: Sendable {
    /// The value of `notifications`.
    static var name: String { get }
    /// What `notification_secret_credential` holds; `nil` for a format without a shared secret.
    static var secretText: String? { get }
    static var settings: [Setting] { get }

    /// Reads a provider's section whose keys and values are known to be good.
    init(_ section: SettingsSection, _ problems: inout SectionProblems)

    /// Makes what verifies the notifications.
    ///
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
