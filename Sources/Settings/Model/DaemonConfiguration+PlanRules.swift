package import Lifecycle

/// What of a target's sections belongs to what an operator approves.
extension DaemonConfiguration {
    /// Settings of a target that decide how it is worked on, and not what is purged there.
    ///
    /// A new setting counts until it is listed here: rather one approval more than a change that
    /// nobody has read.
    static let settingsOutsidePlans: Set<String> = [
        // The part of the plan has it.
        "name",
        // What happens after, or beside, the purge.
        "backups_kept", "residual_copies_kept", "vacuum",
        // How long, and with how much.
        "timeout", "timeout_connect", "timeout_total", "statement_timeout", "lock_timeout",
        "memory_max_mib",
        // Who asks, and how the store proves who it is. The credential with the connection string
        // of PostgreSQL is not among them: it names the database.
        "access_key_id", "secret_key_credential", "session_token_credential", "username",
        "password_credential", "secret_credential", "key_credential", "tls", "ca_file",
        "allow_plain_tcp", "allow_plain_http", "allow_private_addresses",
    ]

    /// The settings of a target that decide what is purged there, a rule for each section, the
    /// target's own first.
    ///
    /// The others are in the order of their keys: what is done does not depend on that of the file.
    ///
    /// - Parameter target: Its name.
    /// - Returns: Empty for a target that is not configured.
    package func planRules(of target: TargetName) -> [PurgePlan.Rule] {
        let first = sections.firstIndex {
            $0.scope == .target && $0.text("name") == target.rawValue
        }
        guard let first else { return [] }
        var rules: [PurgePlan.Rule] = []
        var table = ""
        for section in sections[(first + 1)...].prefix(while: { $0.scope.isBelowTarget }) {
            switch section.scope {
            case .column:
                let key = "\(table) set \(section.column ?? "")"
                rules.append(PurgePlan.Rule(key: key, value: section.planText()))
            case .key:
                let key = "key \(section.text("name") ?? "")"
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

extension SettingScope {
    fileprivate var isBelowTarget: Bool {
        switch self {
        case .table, .column, .key: true
        case .requests, .vault, .server, .journal, .provider, .directory, .target: false
        }
    }
}

extension SettingsSection {
    /// Its values as TOML, in the order of the table of settings.
    fileprivate func planText(without named: Set<String> = []) -> String {
        SettingsTable.settings(of: self).compactMap { setting in
            guard !named.contains(setting.name), let value = values[setting.name],
                scope != .target
                    || !DaemonConfiguration.settingsOutsidePlans.contains(setting.name)
            else { return nil }
            return "\(setting.name) = \(value.toml)"
        }
        .joined(separator: ", ")
    }
}
