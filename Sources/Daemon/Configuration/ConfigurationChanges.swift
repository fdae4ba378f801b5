import Settings
import Stores

/// Finds what differs between two configurations, key by key.
package enum ConfigurationChanges {
    /// Returns full keys such as `provider.apple.concurrency`, in the order of the new file.
    ///
    /// A section that is new or gone is named as a whole (`store.app-db`), and a table by its name
    /// (`store.app-db.table[posts]`). Where only the order of stores changed, that is `store`,
    /// and `store.app-db.table` where only that of its tables did.
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
        let (order, formerOrder) = (new.stores.map(\.name), old.stores.map(\.name))
        if order != formerOrder, Set(order) == Set(formerOrder) { changed.append("store") }
        return changed
    }

    /// A setting whose value differs; in a section that is new, from the default.
    struct ChangedSetting {
        let section: String
        let setting: Setting
        var key: String { "\(section).\(setting.name)" }
    }

    /// The tables of each store in their order, by the name of that list.
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

/// The names of the sections of two configurations, as an operator knows them.
///
/// A table is named by itself, and not by its place: a rule that is added above moves the others.
/// Where several rules are about a table in either configuration, the column is named, too.
struct SectionNames {
    let old: [String]
    let new: [String]

    init(_ old: [SettingsSection], _ new: [SettingsSection]) {
        let names = { (tables: Set<String>, columns: Set<String>) in
            (Self.names(old, tables, columns), Self.names(new, tables, columns))
        }
        let repeated = { (names: (old: [String], new: [String])) in
            Self.repeated(names.old).union(Self.repeated(names.new))
        }
        let tables = repeated(names([], []))
        let columns = repeated(names(tables, []))
        (self.old, self.new) = names(tables, columns)
    }

    /// `tables` are names that several sections would have, so that the column is needed, and
    /// `columns` the same of names with a column, so that only the place is left.
    private static func names(
        _ sections: [SettingsSection],
        _ tables: Set<String>,
        _ columns: Set<String>
    ) -> [String] {
        // Sections below a table follow it.
        var (label, shown) = ("", "")
        return sections.map { section in
            guard let own = name(of: section) else {
                guard !label.isEmpty, section.label.hasPrefix(label) else { return section.label }
                return shown + section.label.dropFirst(label.count)
            }
            let end = section.label.lastIndex(of: "[") ?? section.label.endIndex
            let list = section.label[..<end]
            var name = "\(list)[\(own)]"
            if tables.contains(name), let column = section.text("column") {
                name = "\(list)[\(own).\(column)]"
            }
            if columns.contains(name) { name = section.label }
            (label, shown) = (section.label + ".", name + ".")
            return name
        }
    }

    private static func name(of section: SettingsSection) -> String? {
        switch section.scope {
        case .table: section.text("table")
        case .key: section.text("name")
        case .requests, .state, .vault, .server, .journal, .controller, .recipient, .mail,
            .provider, .directory, .store, .column, .condition, .auth, .verifyHost, .step,
            .subscriber, .queue:
            nil
        }
    }

    private static func repeated(_ names: [String]) -> Set<String> {
        var seen: Set<String> = []
        return Set(names.filter { !seen.insert($0).inserted })
    }
}

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
