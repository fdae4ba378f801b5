package import Lifecycle

/// Turns a parsed document into sections, and notes every problem on the way.
///
/// Missing or bad values get a neutral stand-in, so that one pass finds every problem.
package struct ConfigurationReader {
    private let root: [String: TOMLNode]
    let table: SettingsTable
    package var log: ProblemLog
    package private(set) var sections: [SettingsSection] = []

    init(
        document: TOMLDocument,
        file: String,
        variables: EnvironmentSettings,
        table: SettingsTable
    ) {
        var (root, locations) = (document.root, document.locations)
        let problems = variables.apply(to: &root, &locations, table)
        (self.root, self.table) = (root, table)
        log = ProblemLog(file: file, locations: locations)
        for problem in problems { log.add(problem) }
        checkTopLevel()
    }

    /// Throws every problem of the file.
    package func finish() throws(ConfigurationError) {
        guard log.problems.isEmpty else { throw ConfigurationError(log.problems) }
    }

    private mutating func checkTopLevel() {
        let known = SettingScope.top.map(\.rawValue)
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

    package mutating func append(_ section: SettingsSection) { sections += section.tree }

    /// The file and line, or the variable, of each section and of each of its keys, by its name,
    /// such as `requests.deadline`.
    package var places: [String: String] {
        var places: [String: String] = [:]
        for section in sections {
            places[section.label] = place(of: section.place.path)
            for key in section.values.keys {
                places[section.place.key(key)] = place(of: section.place.path(of: key))
            }
        }
        return places
    }

    private func place(of path: [KeyStep]) -> String {
        log.locations.variable(of: path).map { "$\($0)" }
            ?? "\(log.file):\(log.locations.line(of: path))"
    }
}

// MARK: - Sections

extension ConfigurationReader {
    package mutating func single(_ scope: SettingScope) -> SettingsSection {
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
        let section = SectionReader(place: place, table: table, kind: nil).read(entries, log: &log)
        sections.append(section)
        return section
    }

    /// The sections of an array of tables such as `[[provider]]`, each with its path.
    private mutating func repeated(
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

    /// The sections named `scope`, with labels made of their names; they count once appended.
    package mutating func named(_ scope: SettingScope) -> [SettingsSection] {
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
            return read(
                found.entries,
                at: SectionPlace(scope: scope, path: found.path, label: label)
            )
        }
    }

    private mutating func read(
        _ entries: [String: TOMLNode],
        at place: SectionPlace,
        column: String? = nil
    ) -> SettingsSection {
        let kind = table.kindName(entries, in: place.scope)
        var section = SectionReader(place: place, table: table, kind: kind)
            .read(entries, column: column, log: &log)
        // One problem is enough for a section of an unknown kind.
        if kind == nil, table.hasKinds(place.scope) { return section }
        for (name, scope) in place.scope.children {
            if let kind = section.kind, !kind.settings.contains(where: { $0.scope == scope }) {
                if entries[name] != nil, [.auth, .verifyHost, .step].contains(scope) {
                    log.report(
                        .unknownKey,
                        name,
                        in: place,
                        "kind \"\(kind.name)\" has no such section"
                    )
                }
                continue
            }
            if let sample = scope.columnSample {
                let node = entries[name]
                section.children += columns(node, scope, name, sample, of: place)
                continue
            }
            if scope.isTable {
                section.children += table(entries[name], scope, name, of: place)
                continue
            }
            let found = repeated(
                scope,
                in: entries[name],
                at: place.path(of: name),
                key: place.key(name)
            )
            for (index, found) in found.enumerated() {
                let label = "\(place.label).\(name)[\(index)]"
                let below = SectionPlace(scope: scope, path: found.path, label: label)
                section.children.append(read(found.entries, at: below))
            }
        }
        return section
    }

    /// Reads a section such as `[store.auth]`.
    private mutating func table(
        _ node: TOMLNode?,
        _ scope: SettingScope,
        _ name: String,
        of parent: SectionPlace
    ) -> [SettingsSection] {
        guard let node else { return [] }
        guard case .table(let entries) = node else {
            log.report(
                .wrongType,
                name,
                in: parent,
                "it is \(node.typeName); write \(scope.header)"
            )
            return []
        }
        let path = parent.path(of: name)
        return [read(entries, at: SectionPlace(scope: scope, path: path, label: parent.key(name)))]
    }

    /// Reads `set = { COLUMN = { … } }` and the like, sorted by column.
    private mutating func columns(
        _ node: TOMLNode?,
        _ scope: SettingScope,
        _ name: String,
        _ sample: String,
        of parent: SectionPlace
    ) -> [SettingsSection] {
        guard let node else { return [] }
        let path = parent.path(of: name)
        guard case .table(let columns) = node, !columns.isEmpty else {
            let cause = "it must name at least one column: \(name) = { COLUMN = \(sample) }"
            log.report(.wrongType, name, in: parent, cause)
            return []
        }
        guard columns.count <= scope.countMax else {
            let cause = "there are \(columns.count), and at most \(scope.countMax) are read"
            log.report(.tooMany, name, in: parent, cause)
            return []
        }
        var sections: [SettingsSection] = []
        for (column, node) in columns.sorted(by: { $0.key < $1.key }) {
            guard TextRule.identifier.accepts(column) else {
                log.report(
                    .malformed,
                    column,
                    in: SectionPlace(scope: scope, path: path, label: parent.key(name)),
                    "a column name must be \(TextRule.identifier.requirement)"
                )
                continue
            }
            let place = SectionPlace(
                scope: scope,
                path: path + [.key(column)],
                label: parent.key("\(name).\(column)")
            )
            if case .table(let entries) = node {
                sections.append(read(entries, at: place, column: column))
            } else {
                log.add(
                    .wrongType,
                    key: place.label,
                    at: place.path,
                    "it is \(node.typeName); write \(column) = \(sample) or the like"
                )
            }
        }
        return sections
    }

    package mutating func read<Made>(
        _ section: inout SettingsSection,
        _ body: (inout SettingsSection, inout SectionProblems) -> Made
    ) -> Made {
        var problems = SectionProblems(log: log, place: section.place)
        defer { log = problems.log }
        return body(&section, &problems)
    }
}

// MARK: - Plain sections

extension ConfigurationReader {
    package mutating func requests() -> RequestConfiguration {
        let section = single(.requests)
        let requests = RequestConfiguration(
            gracePeriod: section.duration("grace_period"),
            deadline: section.duration("deadline"),
            maxDeletionsPerHour: section.count("max_deletions_per_hour") ?? 0,
            approval: section.choice("approval") ?? .required,
            withoutIdentities: section.choice("without_identities") ?? .park,
            signInAgeMax: section.optionalDuration("require_fresh_sign_in"),
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

    package mutating func vault() -> VaultConfiguration {
        let section = single(.vault)
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

    package mutating func server() -> ServerConfiguration {
        let section = single(.server)
        return ServerConfiguration(
            connectionsMax: section.requiredCount("connections_max"),
            operatorGroup: section.text("operator_group"),
            submitGroup: section.text("submit_group"),
            viewerGroup: section.text("viewer_group")
        )
    }

    package mutating func journal() -> JournalConfiguration {
        JournalConfiguration(level: single(.journal).choice("level") ?? .info)
    }

    /// `nil` where the section names neither.
    package mutating func controller() -> Controller? {
        let section = single(.controller)
        let (name, contact) = (section.text("name"), section.text("contact"))
        return name == nil && contact == nil ? nil : Controller(name: name, contact: contact)
    }

    package mutating func recipients() -> [Recipient] {
        named(.recipient).map { section in
            append(section)
            return Recipient(
                name: section.requiredText("name"),
                contact: section.text("contact"),
                purpose: section.text("purpose")
            )
        }
    }
}
