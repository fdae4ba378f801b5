package import Lifecycle
package import Providers
package import Settings
package import Stores

/// A whole, valid configuration; it holds names of credentials, never secrets.
package struct DaemonConfiguration: Sendable {
    package let requests: RequestConfiguration
    package let state: StateConfiguration
    package let vault: VaultConfiguration
    package let server: ServerConfiguration
    package let journal: JournalConfiguration
    /// `nil` where none is named.
    package let controller: Controller?
    package let recipients: [Recipient]
    /// `nil` where nothing is mailed.
    package let mail: MailConfiguration?
    package let subscribers: [SubscriberConfiguration]
    package let queues: [QueueConfiguration]
    package let providers: [ProviderConfiguration]
    package let directory: DirectoryConfiguration?
    /// In the order of purging: that of the file, but each after the one whose rows hold its ids.
    package let stores: [StoreConfiguration]
    /// Every value by its key, defaults included.
    package let sections: [SettingsSection]
    /// File and line, or variable, of each section and of each of its keys, by its name.
    package let places: [String: String]
    /// Whether there was a file; without one, variables say everything.
    package var hasFile = true

    /// Every credential that the configuration names, with the keys that name it.
    package var requiredCredentials: [RequiredCredential] {
        let unused = providers.flatMap { provider in
            provider.notifications.unusedCredentialKeys.map { "provider.\(provider.name).\($0)" }
        }
        return sections.flatMap { section in
            section.credentials.map { name, key in
                RequiredCredential(name: name, usedBy: "\(section.label).\(key)")
            }
        }.filter { !unused.contains($0.usedBy) }
    }

    /// Warnings at start, one sentence each.
    package var cautions: [String] {
        var cautions: [String] = []
        if !hasFile { cautions.append("there is no configuration file: variables say everything") }
        if stores.isEmpty {
            cautions.append("no [[store]] is configured: account deletions will erase no data")
        }
        if providers.isEmpty {
            cautions.append("no [[provider]] is configured: no token will be revoked")
        }
        for provider in providers where provider.connection.allowsPlainHTTP {
            cautions.append(
                "provider '\(provider.name)' allows plain http: tokens travel unencrypted"
            )
        }
        for store in stores {
            for key in store.keys where !stores.contains(where: { store.has(key, for: $0) }) {
                cautions.append(
                    "key '\(key.name)' of store '\(store.name)' is not used: no store has"
                        + " keyed_by = \"\(store.name).\(key.name)\""
                )
            }
        }
        return cautions
    }
}

extension DaemonConfiguration {
    /// Why something of a store is erased whatever its age.
    package func withoutTimestamps(_ store: StoreConfiguration) -> String? {
        store.keyedBy.map(isShared) == true ? nil : store.settings.cutoff.gap
    }

    package func isShared(_ reference: KeyReference) -> Bool {
        stores.first { $0.name == reference.store }?.keys.first { $0.name == reference.key }?
            .isShared ?? false
    }
}

extension DaemonConfiguration: Equatable {
    package static func == (one: Self, two: Self) -> Bool { one.sections == two.sections }
}

/// A credential that some key of the configuration names.
package struct RequiredCredential: Hashable, Sendable {
    package let name: String
    /// Such as `provider.apple.private_key_credential`.
    package let usedBy: String
}

extension DaemonConfiguration {
    /// Reads and checks a file, for start, reload and `--check-config`; variables win over it.
    ///
    /// A file that is not there is an empty one if variables say enough, unless it is needed: at a
    /// reload a file that was lost must not take the stores away.
    ///
    /// - Throws: ``Settings/ConfigurationError`` with every problem at once.
    package static func load(
        path: String,
        environment: [String: String] = [:],
        isFileNeeded: Bool = false
    ) throws(ConfigurationError) -> DaemonConfiguration {
        let file = ConfigurationFile(path: path)
        let mayLackFile = !isFileNeeded && EnvironmentSettings(environment).standForFile
        guard mayLackFile, file.isMissing else {
            return try parse(try file.read(), file: path, environment: environment)
        }
        var configuration = try parse([], file: path, environment: environment)
        configuration.hasFile = false
        return configuration
    }

    /// Checks a configuration, which messages call `file`; throws every problem at once.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        environment: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var reader = try ConfigurationLoader.open(
            bytes,
            file: file,
            variables: EnvironmentSettings(environment),
            table: Kinds.table
        )
        let requests = reader.requests()
        let state = reader.state()
        let vault = reader.vault()
        let server = reader.server()
        let journal = reader.journal()
        let controller = reader.controller()
        let recipients = reader.recipients()
        let mail = reader.mail()
        let providers = reader.readProviders(Kinds.providers, requests: requests)
        let directory = reader.readDirectory(providers: providers)
        let stores = reader.readStores()
        let subscribers = reader.subscribers()
        let queues = reader.readQueues()
        try reader.finish()
        return DaemonConfiguration(
            requests: requests,
            state: state,
            vault: vault,
            server: server,
            journal: journal,
            controller: controller,
            recipients: recipients,
            mail: mail,
            subscribers: subscribers,
            queues: queues,
            providers: providers,
            directory: directory,
            stores: stores,
            sections: reader.sections,
            places: reader.places
        )
    }
}

extension DaemonConfiguration {
    /// What decides what is purged in a store: its own settings, then those below, sorted by key.
    package func planRules(of store: StoreName) -> [PurgePlan.Rule] {
        let first = sections.firstIndex {
            $0.scope == .store && $0.text("name") == store.rawValue
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
