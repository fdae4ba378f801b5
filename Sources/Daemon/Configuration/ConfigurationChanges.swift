import Settings
import Stores

/// Finds what differs between two configurations, key by key.
package enum ConfigurationChanges {
    /// Returns full keys such as `provider.apple.concurrency`, in the order of the new file.
    ///
    /// A section that is new or gone is named as a whole (`target.app-db`), and a table by its name
    /// (`target.app-db.table[posts]`). Where only the order of targets changed, that is `target`,
    /// and `target.app-db.table` where only that of its tables did.
    package static func find(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [String] {
        let names = SectionNames(old.sections, new.sections)
        let (before, after) = (Set(names.old), Set(names.new))
        let settings = Dictionary(grouping: settings(from: old, to: new), by: \.section)
        var changed = names.new.flatMap { name in
            before.contains(name) ? (settings[name] ?? []).map(\.key) : [name]
        }
        changed += names.old.filter { !after.contains($0) }
        let tables = orders(of: zip(names.new, new.sections))
        let formerTables = orders(of: zip(names.old, old.sections))
        changed += tables.filter { list, order in
            let former = formerTables[list] ?? []
            return order != former && Set(order) == Set(former)
        }
        .keys.sorted()
        let (order, formerOrder) = (new.targets.map(\.name), old.targets.map(\.name))
        if order != formerOrder, Set(order) == Set(formerOrder) { changed.append("target") }
        return changed
    }

    /// A setting whose value differs; in a section that is new, from the default.
    struct ChangedSetting {
        let section: String
        let setting: Setting
        var key: String { "\(section).\(setting.name)" }
    }

    /// The tables of each target in their order, by the name of that list.
    private static func orders(
        of sections: some Sequence<(String, SettingsSection)>
    ) -> [String: [String]] {
        sections.reduce(into: [:]) { orders, found in
            let (name, section) = found
            guard section.scope == .table, let end = name.firstIndex(of: "[") else { return }
            orders[String(name[..<end]), default: []].append(name)
        }
    }

    static func settings(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [ChangedSetting] {
        let names = SectionNames(old.sections, new.sections)
        let before = zip(names.old, old.sections).reduce(into: [:]) { $0[$1.0] = $1.1 }
        return zip(names.new, new.sections).flatMap { name, section -> [ChangedSetting] in
            let former = before[name]?.values
            return section.settings.filter {
                section.values[$0.name] != (former == nil ? $0.defaultValue : former?[$0.name])
            }
            .map { ChangedSetting(section: name, setting: $0) }
        }
    }
}
