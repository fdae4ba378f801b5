import Lifecycle

/// Settings of the sections that exist once, as variables such as `EXPUNGED_JOURNAL_LEVEL`.
package struct EnvironmentSettings: Sendable {
    static let prefix = "EXPUNGED_"

    /// Of the programs, and no settings.
    package static let others: Set = [
        "EXPUNGED_BOOT_ID", "EXPUNGED_CONFIG", "EXPUNGED_EXECUTOR", "EXPUNGED_LOG_FORMAT",
        "EXPUNGED_SOCKET", "EXPUNGED_UNIT_FACTS",
    ]

    private let variables: [(name: String, value: String)]

    /// Those of all variables that may be settings.
    package init(_ environment: [String: String]) {
        variables = environment.filter {
            $0.key.hasPrefix(Self.prefix) && !Self.others.contains($0.key)
        }
        .sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// Whether they say enough to go without a file.
    ///
    /// Those of `[server]` do not: a container image sets them, and its file may be forgotten.
    package var standForFile: Bool {
        variables.contains { !$0.name.hasPrefix(Self.prefix + "SERVER_") }
    }

    /// `nil` where a section may be repeated: no variable says which is meant.
    package static func variable(of setting: Setting) -> String? {
        let section = setting.scope.rawValue
        guard setting.scope.isSingle, !section.contains(".") else { return nil }
        return "\(prefix)\(section)_\(setting.name)".uppercased()
    }

    /// Puts the variables over what a file says.
    ///
    /// - Returns: A problem for each that is no setting, or whose value has another form.
    func apply(
        to root: inout [String: TOMLNode],
        _ locations: inout KeyLocations,
        _ table: SettingsTable
    ) -> [ConfigurationProblem] {
        let pairs = table.all.compactMap { setting in
            Self.variable(of: setting).map { ($0, setting) }
        }
        let settings = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        return variables.compactMap { name, value in
            guard let setting = settings[name] else {
                return ConfigurationProblem(
                    kind: .unknownKey,
                    file: "",
                    variable: ProblemLog.printable(name),
                    cause: Self.advice(name, settings.keys.sorted())
                )
            }
            guard let node = node(value, setting.type) else {
                return ConfigurationProblem(
                    kind: .malformed,
                    file: "",
                    variable: name,
                    key: setting.key,
                    value: setting.isSecret ? nil : ProblemLog.printable(value),
                    cause: "it must be \(setting.type.range)"
                )
            }
            var entries: [String: TOMLNode] = [:]
            switch root[setting.scope.rawValue] {
            case .table(let table)?: entries = table
            case nil: break
            // The file has something else there, which is reported.
            case .some: return nil
            }
            entries[setting.name] = node
            root[setting.scope.rawValue] = .table(entries)
            let path = [KeyStep.key(setting.scope.rawValue), .key(setting.name)]
            locations.note(path, variable: name)
            return nil
        }
    }

    /// What may be meant, for a name that is none.
    private static func advice(_ name: String, _ known: [String]) -> String {
        let rest = name.dropFirst(prefix.count)
        if let scope = SettingScope.top.first(where: { scope in
            !scope.isSingle && rest.hasPrefix(scope.rawValue.uppercased() + "_")
        }) {
            return "there is no such variable: \(scope.header) may be repeated, so it stays in the"
                + " file"
        }
        // Without its section.
        let whole = known.first { $0.hasSuffix("_\(rest)") }
        if let meant = whole ?? NearestName.find(name, in: known) {
            return "there is no such variable; did you mean '\(meant)'?"
        }
        let sections = SettingScope.top.filter(\.isSingle).map(\.rawValue).joined(separator: ", ")
        return "there is no such variable; EXPUNGED_SECTION_KEY is one, and the sections are"
            + " \(sections)"
    }

    /// A list has commas between its entries; each entry of a map is `NAME=VALUE`.
    private func node(_ value: String, _ type: SettingType) -> TOMLNode? {
        switch type {
        case .count: Int(value).map(TOMLNode.integer)
        // Only sections that may be repeated have them.
        case .numbers, .json: nil
        case .boolean: ["true": true, "false": false][value].map(TOMLNode.boolean)
        case .texts: .array(entries(value).map(TOMLNode.text))
        case .map:
            .table(
                entries(value).reduce(into: [:]) { table, entry in
                    let end = entry.firstIndex(of: "=") ?? entry.endIndex
                    table[String(entry[..<end])] = .text(String(entry[end...].dropFirst()))
                }
            )
        default: .text(value)
        }
    }

    private func entries(_ value: String) -> [String] {
        value.split(separator: ",").map { entry in
            String(entry.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        .filter { !$0.isEmpty }
    }
}
