import Settings
import Stores

/// Finds what differs between two configurations, key by key.
package enum ConfigurationChanges {
    /// Returns full keys such as `provider.apple.concurrency`, in the order of the new file.
    ///
    /// A section that is new or gone is named as a whole (`target.app-db`). Where only the order of
    /// targets changed, that is `target`.
    package static func find(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [String] {
        let labels = old.sections.map(\.label)
        let newLabels = Set(new.sections.map(\.label))
        let settings = Dictionary(grouping: settings(from: old, to: new), by: \.section)
        var changed = new.sections.flatMap { section in
            labels.contains(section.label)
                ? (settings[section.label] ?? []).map(\.key) : [section.label]
        }
        changed += labels.filter { !newLabels.contains($0) }
        let (order, formerOrder) = (new.targets.map(\.name), old.targets.map(\.name))
        if order != formerOrder, Set(order) == Set(formerOrder) { changed.append("target") }
        return changed
    }

    /// A setting whose value differs in a section that both configurations have.
    struct ChangedSetting {
        let section: String
        let setting: Setting
        var key: String { "\(section).\(setting.name)" }
    }

    static func settings(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [ChangedSetting] {
        let before = old.sections.reduce(into: [:]) { $0[$1.label] = $1 }
        return new.sections.flatMap { section in
            guard let former = before[section.label] else { return [ChangedSetting]() }
            return section.settings
                .filter { former.values[$0.name] != section.values[$0.name] }
                .map { ChangedSetting(section: section.label, setting: $0) }
        }
    }
}
