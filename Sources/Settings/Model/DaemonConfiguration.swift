package import Lifecycle

/// A whole, valid configuration.
///
/// Holds no secrets, only names of credentials.
package struct DaemonConfiguration: Hashable, Sendable {
    package let requests: RequestConfiguration
    package let vault: VaultConfiguration
    package let server: ServerConfiguration
    package let journal: JournalConfiguration
    /// In the order of the file; names are unique.
    package let providers: [ProviderConfiguration]
    /// Asked for a user's identities before anything is revoked.
    package let directory: DirectoryConfiguration?
    /// In the order of purging: that of the file, but each behind the one whose rows hold its ids.
    ///
    /// Names are unique.
    package let targets: [TargetConfiguration]
    /// Every value by its key, defaults included; the effective configuration is written from it.
    package let sections: [SettingsSection]

    /// Every credential that the configuration names, with the keys that name it.
    ///
    /// Whether they can be read is for the daemon to find out: they appear only inside the service.
    package var requiredCredentials: [RequiredCredential] {
        var required = [
            RequiredCredential(name: vault.keyCredential, usedBy: "vault.key_credential")
        ]
        for name in vault.retiredKeyCredentials {
            required.append(RequiredCredential(name: name, usedBy: "vault.retired_key_credentials"))
        }
        for provider in providers {
            for (name, key) in provider.kind.credentials {
                required.append(
                    RequiredCredential(name: name, usedBy: "provider.\(provider.name).\(key)")
                )
            }
            for (name, key) in provider.notifications.credentials {
                required.append(
                    RequiredCredential(name: name, usedBy: "provider.\(provider.name).\(key)")
                )
            }
        }
        if let directory, let name = directory.access.keyCredential {
            required.append(
                RequiredCredential(name: name, usedBy: "directory.\(directory.name).key_credential")
            )
        }
        for target in targets {
            guard let name = target.kind.access?.keyCredential else { continue }
            required.append(
                RequiredCredential(name: name, usedBy: "target.\(target.name).key_credential")
            )
        }
        for target in targets {
            for (name, key) in target.kind.credentials {
                required.append(
                    RequiredCredential(name: name, usedBy: "target.\(target.name).\(key)")
                )
            }
        }
        return required
    }

    /// What is valid and still deserves a warning at start: one sentence each.
    package var cautions: [String] {
        var cautions: [String] = []
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
    /// Whether several users may own what a key names.
    package func isShared(_ reference: KeyReference) -> Bool {
        targets.first { $0.name == reference.target }?.keys.first { $0.name == reference.key }?
            .isShared ?? false
    }
}

extension TargetConfiguration {
    /// Whether a key of this target is where another one's ids are found.
    package func has(_ key: KeyConfiguration, for other: TargetConfiguration) -> Bool {
        other.keyedBy?.target == name && other.keyedBy?.key == key.name
    }
}

/// A credential that some key of the configuration names.
package struct RequiredCredential: Hashable, Sendable {
    package let name: String
    /// The key, with the section's name in it: `provider.apple.private_key_credential`.
    package let usedBy: String
}

/// The `[requests]` section.
package struct RequestConfiguration: Hashable, Sendable {
    package let gracePeriod: Duration
    package let deadline: Duration
    package let maxDeletionsPerHour: Int
    package let approval: ApprovalPolicy
    package let withoutIdentities: WithoutIdentities
    /// How old the last sign-in of a user may be for a deletion; `nil`: none is asked for.
    package let signInAgeMax: Duration?
    /// From the end of a deletion to each look at its stores, ascending; empty: none.
    package let rechecks: [Duration]
    /// Between two searches for a sample of erased users; zero: never.
    package let sampleInterval: Duration
}

/// The `[vault]` section.
package struct VaultConfiguration: Hashable, Sendable {
    package let keyCredential: String
    /// Newest first; never contains `keyCredential`.
    package let retiredKeyCredentials: [String]
    /// Ids of keys whose loss somebody has accepted.
    package let lostKeyIDs: [String]
}

/// The `[server]` section.
package struct ServerConfiguration: Hashable, Sendable {
    package let connectionsMax: Int
}

/// The `[journal]` section.
package struct JournalConfiguration: Hashable, Sendable {
    package let level: JournalLevel
}

/// How important a message must be to be written; names as in syslog(3), `info` and not
/// `informational`.
package enum JournalLevel: String, Sendable, CaseIterable {
    case debug, info, notice, warning, error
}
