import Settings

/// A difference between two configurations that only a restart can bring into effect.
package struct ReloadBlocker: Hashable, Sendable, CustomStringConvertible {
    /// Such as `provider.apple.team_id`.
    package let key: String
    package let reason: String

    /// One line for the journal and the control API.
    package var description: String { "cannot apply \(key) by reload (restart_needed): \(reason)" }
}

/// Finds what a reload cannot apply.
///
/// Directories and sockets are not in the configuration, so they can never differ here: they come
/// from the command line, the environment and systemd.
package enum ReloadBlockers {
    /// Compares two configurations.
    ///
    /// - Returns: Empty when a reload brings `new` into effect as a whole.
    package static func find(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [ReloadBlocker] {
        let before = old.sections.reduce(into: [:]) { $0[$1.label] = $1 }
        var blockers: [ReloadBlocker] = []
        for section in new.sections {
            guard let former = before[section.label] else { continue }
            for setting in section.settings
            where setting.takesEffect == .restart
                && former.values[setting.name] != section.values[setting.name]
            {
                blockers.append(
                    ReloadBlocker(
                        key: "\(section.label).\(setting.name)",
                        reason: "it changed, and it is read only at start"
                    )
                )
            }
        }
        return blockers + newCredentials(from: old, to: new, blocked: Set(blockers.map(\.key)))
    }

    /// systemd hands credentials over when it starts the service and never again (systemd.exec(5)).
    private static func newCredentials(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration,
        blocked: Set<String>
    ) -> [ReloadBlocker] {
        let known = Set(old.requiredCredentials.map(\.name))
        return new.requiredCredentials
            .filter { !known.contains($0.name) && !blocked.contains($0.usedBy) }
            .map { credential in
                ReloadBlocker(
                    key: credential.usedBy,
                    reason:
                        "its credential is new, and systemd hands credentials over at start only"
                )
            }
    }
}
