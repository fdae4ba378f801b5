import Lifecycle

/// Turns a parsed document into a configuration, and notes everything that is wrong on the way.
///
/// Values that are missing or bad get a neutral stand-in, so that one pass finds every problem;
/// with any problem the result is thrown away.
struct ConfigurationReader {
    private let root: [String: TOMLNode]
    var log: ProblemLog
    private(set) var sections: [SettingsSection] = []

    init(root: [String: TOMLNode], file: String, locations: KeyLocations) {
        self.root = root
        log = ProblemLog(file: file, locations: locations)
    }

    /// Reads everything.
    ///
    /// - Throws: ``ConfigurationError`` with every problem of the file.
    mutating func read() throws(ConfigurationError) -> DaemonConfiguration {
        checkTopLevel()
        let requests = requestConfiguration(single(.requests))
        let vault = vaultConfiguration(single(.vault))
        let server = ServerConfiguration(
            connectionsMax: single(.server).count("connections_max") ?? 0
        )
        let journal = JournalConfiguration(level: single(.journal).choice("level") ?? .info)
        let providers = readProviders(requests: requests)
        let directory = readDirectory(providers: providers)
        let targets = readTargets()
        guard log.problems.isEmpty else { throw ConfigurationError(log.problems) }
        return DaemonConfiguration(
            requests: requests,
            vault: vault,
            server: server,
            journal: journal,
            providers: providers,
            directory: directory,
            targets: targets,
            sections: sections
        )
    }

    private mutating func checkTopLevel() {
        let known = ["requests", "vault", "server", "journal", "provider", "directory", "target"]
        for name in root.keys where !known.contains(name) {
            log.add(
                .unknownKey,
                key: name,
                at: [.key(name)],
                SectionReader.advice(name, known: known)
                    .replacing("there is no such key", with: "there is no such section")
            )
        }
    }

    mutating func append(_ section: SettingsSection) {
        sections.append(section)
    }
}

// MARK: - Sections

extension ConfigurationReader {
    private mutating func single(_ scope: SettingScope) -> SettingsSection {
        let name = scope.rawValue
        if let section = sections.first(where: { $0.scope == scope }) { return section }
        var entries: [String: TOMLNode] = [:]
        switch root[name] {
        case nil: break
        case .table(let table): entries = table
        case .some(let node):
            log.add(
                .wrongType,
                key: name,
                at: [.key(name)],
                "it is \(node.typeName); write \(scope.header) on a line of its own"
            )
        }
        let place = SectionPlace(scope: scope, path: [.key(name)], label: name)
        let section = SectionReader(place: place, family: nil).read(entries, log: &log)
        sections.append(section)
        return section
    }

    /// The sections of an array of tables such as `[[provider]]`, each with its path.
    mutating func repeated(
        _ scope: SettingScope,
        in node: TOMLNode?,
        at path: [KeyStep],
        key: String
    ) -> [(entries: [String: TOMLNode], path: [KeyStep])] {
        guard let node else { return [] }
        guard case .array(let nodes) = node else {
            log.add(
                .wrongType,
                key: key,
                at: path,
                "it is \(node.typeName); write \(scope.header), with two brackets, for each"
            )
            return []
        }
        guard nodes.count <= scope.countMax else {
            log.add(
                .tooMany,
                key: key,
                at: path,
                "there are \(nodes.count) of them, and at most \(scope.countMax) are read"
            )
            return []
        }
        var found: [(entries: [String: TOMLNode], path: [KeyStep])] = []
        for (index, node) in nodes.enumerated() {
            let path = path + [.index(index)]
            if case .table(let entries) = node {
                found.append((entries: entries, path: path))
            } else {
                log.add(
                    .wrongType,
                    key: "\(key)[\(index)]",
                    at: path,
                    "it is \(node.typeName), not a section"
                )
            }
        }
        return found
    }

    /// The sections named `scope` at the top of the document, with labels made of their names.
    mutating func named(
        _ scope: SettingScope
    ) -> [(entries: [String: TOMLNode], place: SectionPlace)] {
        let name = scope.rawValue
        let found = repeated(scope, in: root[name], at: [.key(name)], key: name)
        var firstUses: [String: Int] = [:]
        return found.enumerated().map { index, found in
            var label = "\(name)[\(index)]"
            if case .text(let text)? = found.entries["name"], TextRule.name.accepts(text) {
                label = "\(name).\(text)"
                let line = log.locations.line(of: found.path + [.key("name")])
                if let first = firstUses[text] {
                    log.add(
                        .duplicate,
                        key: "\(name)[\(index)].name",
                        at: found.path + [.key("name")],
                        value: text,
                        "line \(first) has the same name; names are unique"
                    )
                }
                firstUses[text] = firstUses[text] ?? line
            }
            return (
                entries: found.entries,
                place: SectionPlace(scope: scope, path: found.path, label: label)
            )
        }
    }

    /// The good value of `kind`, as the readers need it before anything else.
    static func family(_ entries: [String: TOMLNode], among names: [String]) -> String? {
        guard case .text(let text)? = entries["kind"], names.contains(text) else { return nil }
        return text
    }
}

// MARK: - Plain sections

extension ConfigurationReader {
    private mutating func requestConfiguration(_ section: SettingsSection) -> RequestConfiguration {
        let requests = RequestConfiguration(
            gracePeriod: section.duration("grace_period"),
            deadline: section.duration("deadline"),
            maxDeletionsPerHour: section.count("max_deletions_per_hour") ?? 0,
            approval: section.choice("approval") ?? .required,
            withoutIdentities: section.choice("without_identities") ?? .park,
            signInAgeMax: section.values["require_fresh_sign_in"].map { _ in
                section.duration("require_fresh_sign_in")
            },
            rechecks: section.texts("rechecks").compactMap(DurationText.parse),
            sampleInterval: section.duration("sample_interval")
        )
        let unsorted = zip(requests.rechecks, requests.rechecks.dropFirst()).map { $0 >= $1 }
        if let index = unsorted.firstIndex(of: true) {
            log.add(
                .contradiction,
                key: "requests.rechecks[\(index + 1)]",
                at: [.key("requests"), .key("rechecks"), .index(index + 1)],
                value: DurationText.format(requests.rechecks[index + 1]),
                "it must be longer than the one before; all are counted from the deletion's end"
            )
        }
        let isComplete = section.values["grace_period"] != nil && section.values["deadline"] != nil
        if isComplete, requests.gracePeriod >= requests.deadline {
            log.add(
                .contradiction,
                key: "requests.grace_period",
                at: [.key("requests"), .key("grace_period")],
                value: DurationText.format(requests.gracePeriod),
                "it must be shorter than requests.deadline, which is "
                    + "\(DurationText.format(requests.deadline))"
            )
        }
        return requests
    }

    private mutating func vaultConfiguration(_ section: SettingsSection) -> VaultConfiguration {
        let vault = VaultConfiguration(
            keyCredential: section.text("key_credential") ?? "",
            retiredKeyCredentials: section.texts("retired_key_credentials"),
            lostKeyIDs: section.texts("lost_key_ids")
        )
        if let index = vault.retiredKeyCredentials.firstIndex(of: vault.keyCredential) {
            log.add(
                .contradiction,
                key: "vault.retired_key_credentials[\(index)]",
                at: [.key("vault"), .key("retired_key_credentials"), .index(index)],
                "it is also the key_credential; a key is either in use or retired"
            )
        }
        return vault
    }
}
