package import Lifecycle
package import Providers
package import Settings
package import Stores

/// A whole, valid configuration; it holds names of credentials, never secrets.
package struct DaemonConfiguration: Sendable {
    package let requests: RequestConfiguration
    package let state: StateConfiguration
    package let vault: VaultConfiguration
    package let server: ServerConfiguration
    package let journal: JournalConfiguration
    /// `nil` where none is named.
    package let controller: Controller?
    package let recipients: [Recipient]
    /// `nil` where nothing is mailed.
    package let mail: MailConfiguration?
    package let subscribers: [SubscriberConfiguration]
    package let queues: [QueueConfiguration]
    package let providers: [ProviderConfiguration]
    package let directory: DirectoryConfiguration?
    /// In the order of purging: that of the file, but each after the one whose rows hold its ids.
    package let targets: [TargetConfiguration]
    /// Every value by its key, defaults included.
    package let sections: [SettingsSection]
    /// File and line, or variable, of each section and of each of its keys, by its name.
    package let places: [String: String]
    /// Whether there was a file; without one, variables say everything.
    package var hasFile = true

    /// Every credential that the configuration names, with the keys that name it.
    package var requiredCredentials: [RequiredCredential] {
        let unused = providers.flatMap { provider in
            provider.notifications.unusedCredentialKeys.map { "provider.\(provider.name).\($0)" }
        }
        return sections.flatMap { section in
            section.credentials.map { name, key in
                RequiredCredential(name: name, usedBy: "\(section.label).\(key)")
            }
        }.filter { !unused.contains($0.usedBy) }
    }

    /// Warnings at start, one sentence each.
    package var cautions: [String] {
        var cautions: [String] = []
        if !hasFile { cautions.append("there is no configuration file: variables say everything") }
        if targets.isEmpty {
            cautions.append("no [[target]] is configured: account deletions will erase no data")
        }
        if providers.isEmpty {
            cautions.append("no [[provider]] is configured: no token will be revoked")
        }
        for provider in providers where provider.connection.allowsPlainHTTP {
            cautions.append(
                "provider '\(provider.name)' allows plain http: tokens travel unencrypted"
            )
        }
        for target in targets {
            for key in target.keys where !targets.contains(where: { target.has(key, for: $0) }) {
                cautions.append(
                    "key '\(key.name)' of target '\(target.name)' is not used: no target has"
                        + " keyed_by = \"\(target.name).\(key.name)\""
                )
            }
        }
        return cautions
    }
}

extension DaemonConfiguration {
    /// Why something of a target is erased whatever its age.
    package func withoutTimestamps(_ target: TargetConfiguration) -> String? {
        target.keyedBy.map(isShared) == true ? nil : target.store.cutoff.gap
    }

    package func isShared(_ reference: KeyReference) -> Bool {
        targets.first { $0.name == reference.target }?.keys.first { $0.name == reference.key }?
            .isShared ?? false
    }
}

extension DaemonConfiguration: Equatable {
    package static func == (one: Self, two: Self) -> Bool { one.sections == two.sections }
}

/// A credential that some key of the configuration names.
package struct RequiredCredential: Hashable, Sendable {
    package let name: String
    /// Such as `provider.apple.private_key_credential`.
    package let usedBy: String
}
