package import Lifecycle
import Settings

extension DaemonConfiguration {
    /// What decides what is purged in a target: its own settings, then those below, sorted by key.
    package func planRules(of target: TargetName) -> [PurgePlan.Rule] {
        let first = sections.firstIndex {
            $0.scope == .target && $0.text("name") == target.rawValue
        }
        guard let first else { return [] }
        var rules: [PurgePlan.Rule] = []
        var table = ""
        for section in sections[first].tree.dropFirst() {
            switch section.scope {
            case .column:
                let key = "\(table) set \(section.column ?? "")"
                rules.append(PurgePlan.Rule(key: key, value: section.planText()))
            case .condition:
                let key = "\(table) where \(section.column ?? "")"
                rules.append(PurgePlan.Rule(key: key, value: section.planText()))
            case .key:
                let key = "key \(section.text("name") ?? "")"
                rules.append(PurgePlan.Rule(key: key, value: section.planText()))
            case .auth, .verifyHost: break
            case .step:
                let key = "\(section.groupName) \(section.text("name") ?? "")"
                rules.append(PurgePlan.Rule(key: key, value: section.planText()))
            default:
                table = "table \(section.text("table") ?? "") (\(section.text("column") ?? ""))"
                let value = section.planText(without: ["table", "column"])
                rules.append(PurgePlan.Rule(key: table, value: value))
            }
        }
        let own = PurgePlan.Rule(key: "store", value: sections[first].planText())
        return [own] + rules.sorted { $0.key < $1.key }
    }
}

extension SettingsSection {
    /// Its values as TOML, in the order of the table of settings.
    fileprivate func planText(without named: Set<String> = []) -> String {
        settings.compactMap { setting in
            guard !named.contains(setting.name), !setting.isOutsidePlans,
                let value = values[setting.name]
            else { return nil }
            return "\(setting.name) = \(value.toml)"
        }
        .joined(separator: ", ")
    }
}
