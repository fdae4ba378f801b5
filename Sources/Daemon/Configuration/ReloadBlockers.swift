import Settings
import Stores

/// A difference that only a restart brings into effect.
package struct ReloadBlocker: Hashable, Sendable, CustomStringConvertible {
    /// Such as `provider.apple.team_id`.
    package let key: String
    package let reason: String

    package var description: String { "cannot apply \(key) by reload (restart_needed): \(reason)" }
}

/// Finds what a reload cannot apply.
package enum ReloadBlockers {
    package static func find(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [ReloadBlocker] {
        let queues = queues(from: old, to: new)
        let named = Set(queues.map(\.key))
        let blockers = ConfigurationChanges.settings(from: old, to: new)
            .filter { $0.setting.takesEffect == .restart && !named.contains($0.section) }
            .map { ReloadBlocker(key: $0.key, reason: "it changed, and it is read only at start") }
        return blockers + queues
            + newCredentials(from: old, to: new, blocked: Set(blockers.map(\.key)))
    }

    private static func queues(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [ReloadBlocker] {
        let (before, after) = (Set(old.queues.map(\.name)), Set(new.queues.map(\.name)))
        return before.symmetricDifference(after).sorted().map { name in
            ReloadBlocker(
                key: "queue.\(name)",
                reason: "it came or went, and queues are opened only at start"
            )
        }
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
