import Lifecycle

extension ConfigurationReader {
    mutating func readTargets() -> [TargetConfiguration] {
        var targets: [TargetConfiguration] = []
        var places: [SectionPlace] = []
        var pathLines: [String: Int] = [:]
        for (entries, place) in named(.target) {
            let family = Self.family(entries, among: TargetFamily.allCases.map(\.rawValue))
                .flatMap(TargetFamily.init(rawValue:))
            let section = SectionReader(place: place, family: family?.rawValue)
                .read(entries, log: &log)
            append(section)
            if let path = section.text("path") {
                let line = log.locations.line(of: place.path(of: "path"))
                // Rows that are found by other ids are another target's.
                let use = "\(path)\u{0}\(section.text("keyed_by") ?? "")"
                if let first = pathLines[use] {
                    log.report(
                        .duplicate,
                        "path",
                        in: place,
                        value: path,
                        "the target of line \(first) has the same file; put the tables there"
                    )
                }
                pathLines[use] = pathLines[use] ?? line
            }
            guard let family else { continue }
            if !family.hasResidualCopies, section.values["residual_copies_kept"] != nil {
                log.report(
                    .contradiction,
                    "residual_copies_kept",
                    in: place,
                    "a target of kind \"\(family.rawValue)\" tells itself what it keeps"
                )
            }
            if section.values["without_keys"] != nil, section.values["keyed_by"] == nil {
                log.report(
                    .contradiction,
                    "without_keys",
                    in: place,
                    "without keyed_by no keys are looked for"
                )
            }
            let kind = targetKind(family, section, tables: entries["table"], of: place)
            targets.append(
                TargetConfiguration(
                    name: TargetName(section.text("name") ?? ""),
                    kind: kind,
                    backupsKept: section.values["backups_kept"] == nil
                        ? nil : section.duration("backups_kept"),
                    residualCopiesKept: section.values["residual_copies_kept"] == nil
                        ? nil : section.duration("residual_copies_kept"),
                    keys: readKeys(entries["key"], kind, of: place),
                    keyedBy: section.text("keyed_by").flatMap { KeyReference($0) },
                    withoutKeys: section.choice("without_keys") ?? .proceed
                )
            )
            places.append(place)
        }
        checkAccountsComeLast(targets, places)
        checkKeys(targets, places)
        return Self.sourcesFirst(targets)
    }

    private mutating func targetKind(
        _ family: TargetFamily,
        _ section: SettingsSection,
        tables: TOMLNode?,
        of place: SectionPlace
    ) -> TargetKind {
        switch family {
        case .sqlite:
            return .sqlite(
                SQLiteTargetConfiguration(
                    path: section.text("path") ?? "",
                    triggers: section.choice("triggers") ?? .checked,
                    vacuum: section.choice("vacuum") ?? .off,
                    tables: readTables(tables, of: place)
                )
            )
        case .postgresql:
            return .postgresql(
                PostgreSQLTargetConfiguration(
                    conninfoCredential: section.text("conninfo_credential") ?? "",
                    schemas: section.texts("schemas"),
                    tls: section.choice("tls") ?? .verifyFull,
                    caFile: section.text("ca_file"),
                    statementTimeout: section.duration("statement_timeout"),
                    lockTimeout: section.duration("lock_timeout"),
                    tables: readTables(tables, of: place)
                )
            )
        case .firebaseAuth:
            refuseTables(tables, in: place, "a target of accounts has no tables")
            return .firebaseAuth(
                FirebaseAuthTargetConfiguration(
                    project: section.text("project") ?? "",
                    tenant: section.text("tenant"),
                    access: googleAccess(section, at: place)
                )
            )
        case .redis:
            refuseTables(tables, in: place, "a target of Redis has no tables; give keys or members")
            return .redis(redisTarget(section, at: place))
        case .command:
            refuseTables(tables, in: place, "the program knows its store; it has no tables here")
            return .command(commandTarget(section))
        case .webhook:
            refuseTables(tables, in: place, "the service knows its store; it has no tables here")
            return .webhook(webhookTarget(section, at: place))
        case .s3:
            refuseTables(tables, in: place, "a bucket has no tables; give prefixes or objects")
            return .s3(s3Target(section, at: place))
        case .cloudStorage:
            refuseTables(tables, in: place, "a bucket has no tables; give prefixes or objects")
            return .cloudStorage(cloudStorageTarget(section, at: place))
        case .firestore:
            refuseTables(tables, in: place, "Firestore has no tables; give documents or groups")
            return .firestore(firestoreTarget(section, at: place))
        case .realtimeDatabase:
            refuseTables(tables, in: place, "a Realtime Database has no tables; give paths")
            return .realtimeDatabase(realtimeDatabaseTarget(section, at: place))
        case .files:
            refuseTables(tables, in: place, "a target of files has no tables; give root and paths")
            return .files(
                FilesTargetConfiguration(
                    root: section.text("root") ?? "",
                    paths: section.texts("paths")
                )
            )
        }
    }

    private mutating func refuseTables(
        _ tables: TOMLNode?,
        in place: SectionPlace,
        _ cause: String
    ) {
        guard tables != nil else { return }
        log.report(.contradiction, "table", in: place, cause)
    }

    /// The order in the file is that of the work (``TargetFamily/goesLast``).
    private mutating func checkAccountsComeLast(
        _ targets: [TargetConfiguration],
        _ places: [SectionPlace]
    ) {
        let isAccount = targets.map(\.kind.family.goesLast)
        for index in targets.indices where isAccount[index] && isAccount[index...].contains(false) {
            log.report(
                .contradiction,
                "kind",
                in: places[index],
                value: targets[index].kind.family.rawValue,
                "accounts are deleted last: put this target behind the others"
            )
        }
    }

    private mutating func readTables(
        _ node: TOMLNode?,
        of parent: SectionPlace
    ) -> [TableConfiguration] {
        let path = parent.path(of: "table")
        let found = repeated(.table, in: node, at: path, key: parent.key("table"))
        let isEmptyList = if case .array(let nodes)? = node { nodes.isEmpty } else { false }
        if node == nil || isEmptyList {
            log.report(
                .missingKey,
                "table",
                in: parent,
                "a target needs at least one [[target.table]] below it"
            )
        }
        var lines: [String: Int] = [:]
        var tables: [TableConfiguration] = []
        for (index, (entries, path)) in found.enumerated() {
            let place = SectionPlace(
                scope: .table,
                path: path,
                label: "\(parent.label).table[\(index)]"
            )
            let section = SectionReader(place: place, family: nil).read(entries, log: &log)
            append(section)
            let changes = readChanges(entries["set"], of: place)
            if let table = section.text("table"), let column = section.text("column") {
                // SQLite compares names without regard to ASCII case
                // (sqlite.org/lang_keywords.html).
                let pair = "\(table)\u{0}\(column)".lowercased()
                if let first = lines[pair] {
                    log.report(
                        .duplicate,
                        "column",
                        in: place,
                        value: column,
                        "line \(first) deals with the same column of the same table"
                    )
                }
                lines[pair] = lines[pair] ?? log.locations.line(of: path)
            }
            tables.append(
                table(section, at: place, changes: changes, hasSet: entries["set"] != nil)
            )
        }
        return tables
    }

    private mutating func table(
        _ section: SettingsSection,
        at place: SectionPlace,
        changes: [ColumnChange],
        hasSet: Bool
    ) -> TableConfiguration {
        let name: TableConfiguration.Action.Name? = section.choice("action")
        if let name {
            checkReason(section, of: name, at: place)
            if name == .anonymize && !hasSet {
                log.report(
                    .missingKey,
                    "set",
                    in: place,
                    "action \"anonymize\" needs set = { COLUMN = { strategy = \"null\" } }"
                )
            } else if name != .anonymize && hasSet {
                log.report(
                    .contradiction,
                    "set",
                    in: place,
                    "only action \"anonymize\" changes columns"
                )
            }
        }
        let reason = section.text("keep_reason") ?? ""
        let action: TableConfiguration.Action =
            switch name ?? .keep {
            case .delete: .delete
            case .anonymize: .anonymize(changes, keepReason: reason)
            case .keep: .keep(reason: reason)
            }
        return TableConfiguration(
            table: section.text("table") ?? "",
            column: section.text("column") ?? "",
            action: action,
            idType: section.choice("id_type") ?? .text,
            createdAt: createdAt(section, at: place)
        )
    }

    private mutating func checkReason(
        _ section: SettingsSection,
        of name: TableConfiguration.Action.Name,
        at place: SectionPlace
    ) {
        let isGiven = isWritten("keep_reason", in: section, at: place)
        switch name {
        case .delete where isGiven:
            log.report(
                .contradiction,
                "keep_reason",
                in: place,
                "action \"delete\" keeps nothing"
            )
        case .anonymize where !isGiven, .keep where !isGiven:
            log.report(
                .missingKey,
                "keep_reason",
                in: place,
                "action \"\(name.rawValue)\" leaves rows; say why, for the receipt"
            )
        case .delete, .anonymize, .keep:
            break
        }
    }

    mutating func createdAt(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> CreatedAtColumn? {
        let hasColumn = isWritten("created_at_column", in: section, at: place)
        let hasUnit = isWritten("created_at_unit", in: section, at: place)
        if hasColumn && !hasUnit {
            log.report(
                .missingKey,
                "created_at_unit",
                in: place,
                "created_at_column needs it; it must be "
                    + SettingType.choice(CreatedAtUnit.allCases.map(\.rawValue)).range
            )
        } else if hasUnit && !hasColumn {
            log.report(
                .contradiction,
                "created_at_unit",
                in: place,
                "it says nothing without created_at_column"
            )
        }
        guard let column = section.text("created_at_column"),
            let unit: CreatedAtUnit = section.choice("created_at_unit")
        else { return nil }
        return CreatedAtColumn(column: column, unit: unit)
    }

    /// Whether the file has the key, with a good value or a bad one that is reported already.
    private func isWritten(
        _ name: String,
        in section: SettingsSection,
        at place: SectionPlace
    ) -> Bool {
        section.values[name] != nil
            || log.locations.isWritten(place.path(of: name))
    }
}

// MARK: - Columns

extension ConfigurationReader {
    private mutating func readChanges(
        _ node: TOMLNode?,
        of parent: SectionPlace
    ) -> [ColumnChange] {
        guard let node else { return [] }
        let path = parent.path(of: "set")
        guard case .table(let columns) = node, !columns.isEmpty else {
            log.report(
                .wrongType,
                "set",
                in: parent,
                "it must name at least one column: set = { COLUMN = { strategy = \"null\" } }"
            )
            return []
        }
        guard columns.count <= SettingScope.column.countMax else {
            log.report(
                .tooMany,
                "set",
                in: parent,
                "there are \(columns.count), and at most \(SettingScope.column.countMax) are read"
            )
            return []
        }
        var changes: [ColumnChange] = []
        for (column, node) in columns.sorted(by: { $0.key < $1.key }) {
            let place = SectionPlace(
                scope: .column,
                path: path + [.key(column)],
                label: parent.key("set.\(column)")
            )
            guard TextRule.identifier.accepts(column) else {
                log.report(
                    .malformed,
                    column,
                    in: SectionPlace(
                        scope: .column,
                        path: path,
                        label: parent.key("set")
                    ),
                    "a column name must be \(TextRule.identifier.requirement)"
                )
                continue
            }
            guard case .table(let entries) = node else {
                log.add(
                    .wrongType,
                    key: place.label,
                    at: place.path,
                    "it is \(node.typeName); write \(column) = { strategy = \"null\" } or the like"
                )
                continue
            }
            let section = SectionReader(place: place, family: nil)
                .read(entries, column: column, log: &log)
            append(section)
            changes.append(
                ColumnChange(column: column, replacement: replacement(section, at: place))
            )
        }
        return changes
    }

    private mutating func replacement(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> ColumnChange.Replacement {
        guard let strategy: ColumnChange.Strategy = section.choice("strategy") else { return .null }
        checkOwner("value", of: .constant, strategy: strategy, section, at: place)
        checkOwner("length", of: .truncate, strategy: strategy, section, at: place)
        switch strategy {
        case .null: return .null
        case .constant:
            return section.count("value").map { .integer(Int64($0)) }
                ?? .text(section.text("value") ?? "")
        case .hash: return .hash
        case .random: return .random
        case .truncate: return .truncate(length: section.count("length") ?? 0)
        }
    }

    /// `value` belongs to one strategy and `length` to another; each is needed there and refused
    /// elsewhere.
    private mutating func checkOwner(
        _ name: String,
        of owner: ColumnChange.Strategy,
        strategy: ColumnChange.Strategy,
        _ section: SettingsSection,
        at place: SectionPlace
    ) {
        let isGiven = isWritten(name, in: section, at: place)
        if strategy == owner && !isGiven {
            log.report(
                .missingKey,
                name,
                in: place,
                "strategy \"\(owner.rawValue)\" needs it"
            )
        } else if strategy != owner && isGiven {
            log.report(
                .contradiction,
                name,
                in: place,
                "strategy \"\(strategy.rawValue)\" has no \(name); \"\(owner.rawValue)\" has"
            )
        }
    }
}
