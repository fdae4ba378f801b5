import Settings

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
            .provider, .directory, .target, .column, .condition, .auth, .verifyHost, .step,
            .subscriber, .queue:
            nil
        }
    }

    private static func repeated(_ names: [String]) -> Set<String> {
        var seen: Set<String> = []
        return Set(names.filter { !seen.insert($0).inserted })
    }
}
