import Lifecycle
import Settings

extension SchemaClaims {
    /// Reads the `[[store.table]]` and `[[store.key]]` sections of a store.
    init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        self.init()
        let tables = section.children.filter { $0.scope == .table }
        if tables.isEmpty, !problems.isReported("table") {
            let cause = "a store needs at least one [[store.table]] below it"
            problems.report(.missingKey, "table", cause)
        }
        var lines: [String: Int] = [:]
        for table in tables {
            rules.append(TableRule(table, &problems))
            guard let name = table.text("table"), let column = table.text("column") else {
                continue
            }
            // SQLite compares names without regard to ASCII case (sqlite.org/lang_keywords.html).
            let via = table.text("via") ?? ""
            let pair =
                "\(name)\u{0}\(column)\u{0}\(via)".lowercased() + table.conditionText
                + ["inside", "path", "pattern"].map { "\u{0}\(table.text($0) ?? "")" }.joined()
            if let first = lines[pair] {
                let cause = "line \(first) deals with the same column of the same table"
                problems.report(.duplicate, "column", in: table.place, value: column, cause)
            }
            lines[pair] = lines[pair] ?? problems.line(in: table.place)
        }
        refuseUnfit(tables, &problems)
        readKeys(&section, &problems)
        self = datedByParents()
    }

    /// Refuses rules that no id fits together: one of them would find nothing of anybody, and call
    /// that clean.
    private func refuseUnfit(_ tables: [SettingsSection], _ problems: inout SectionProblems) {
        guard let index = rules.firstIndex(where: { $0.idTemplate != nil }),
            let template = rules[index].idTemplate
        else { return }
        let line = problems.line(in: tables[index].place)
        for (rule, table) in zip(rules, tables)
        where rule.via == nil && rule.idTemplate == nil && !rule.idType.fits(template) {
            problems.report(
                .contradiction,
                "id_type",
                in: table.place,
                value: rule.idType.rawValue,
                "no id fits this rule and the id_template of line \(line); give this rule an"
                    + " id_template, or a store of its own with keyed_by"
            )
        }
    }

    private mutating func readKeys(
        _ section: inout SettingsSection,
        _ problems: inout SectionProblems
    ) {
        var lines: [String: Int] = [:]
        for index in section.children.indices where section.children[index].scope == .key {
            keys.append(KeyRule(&section.children[index], rules, &problems))
            let place = section.children[index].place
            guard let name = section.children[index].text("name") else { continue }
            if let first = lines[name] {
                let cause =
                    "line \(first) has the same name; keys of a store have names of their own"
                problems.report(.duplicate, "name", in: place, value: name, cause)
            }
            lines[name] = lines[name] ?? problems.line("name", in: place)
        }
    }
}

extension SectionProblems {
    /// Reports a key that is missing though it is needed, or given though it means nothing.
    mutating func require(
        _ key: String,
        in section: SettingsSection,
        if isNeeded: Bool,
        missing: String,
        needless: String
    ) {
        switch (isWritten(key, in: section.place), isNeeded) {
        case (false, true): report(.missingKey, key, in: section.place, missing)
        case (true, false): report(.contradiction, key, in: section.place, needless)
        case (true, true), (false, false): break
        }
    }
}

extension TableRule {
    fileprivate init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let name: TableAction.Name? = section.choice("action")
        if let name {
            problems.require(
                "keep_reason",
                in: section,
                if: name != .delete,
                missing: "action \"\(name.rawValue)\" leaves rows; say why, for the receipt",
                needless: "action \"delete\" keeps nothing"
            )
            problems.require(
                "set",
                in: section,
                if: name == .anonymize,
                missing: "action \"anonymize\" needs set = { COLUMN = { strategy = \"null\" } }",
                needless: "only action \"anonymize\" changes columns"
            )
        }
        var masks: [ColumnMask] = []
        for column in section.children where column.scope == .column {
            let strategy = MaskStrategy(column, &problems)
            let path = column.text("path").flatMap { JSONPath($0) }
            masks.append(ColumnMask(column: column.column ?? "", strategy: strategy, path: path))
        }
        let action: TableAction =
            switch name ?? .keep {
            case .delete: .delete
            case .anonymize: .anonymize(masks)
            case .keep: .keep
            }
        self.init(
            table: section.requiredText("table"),
            column: section.requiredText("column"),
            idType: section.requiredChoice("id_type"),
            action: action,
            reason: name == .delete ? nil : section.requiredText("keep_reason"),
            creation: CreationColumn(section, &problems)
        )
        conditions = section.children.filter { $0.scope == .condition }.compactMap {
            ColumnCondition($0, &problems)
        }
        identifiesUser = section.flag("identifies_user")
        via = section.text("via").flatMap { ParentColumn($0) }
        idTemplate = section.text("id_template").flatMap { IDTemplate($0) }
        check(section, &problems)
        readInside(section, &problems)
    }

    /// Reports keys that say different things about what the column holds.
    private func check(_ section: SettingsSection, _ problems: inout SectionProblems) {
        if via != nil {
            let cause = "with via, the column holds what the rule for that table finds"
            for key in ["id_type", "id_template", "identifies_user"]
            where problems.isWritten(key, in: section.place) {
                problems.report(.contradiction, key, in: section.place, cause)
            }
        }
        if let idTemplate, !idTemplate.parts.contains(where: isOwn) {
            let cause = "it must name the column '\(column)', too"
            problems.report(.contradiction, "id_template", in: section.place, cause)
        }
    }
}

extension SettingsSection {
    /// Tells rules for the same column apart.
    fileprivate var conditionText: String {
        children.filter { $0.scope == .condition }.map { condition in
            let values = condition.values.sorted { $0.key < $1.key }
            return "\u{0}\(condition.column ?? "") \(values.map { "\($0.key) \($0.value.toml)" })"
        }
        .joined()
    }
}

extension ColumnCondition {
    /// Reads `[store.table.where.COLUMN]`, which must have one of its keys.
    fileprivate init?(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let keys = ["equals", "in", "not", "null"].filter {
            problems.isWritten($0, in: section.place)
        }
        guard keys.count <= 1 else {
            let cause = "it has more than one of equals, in, not and null"
            problems.report(.contradiction, keys[1], in: section.place, cause)
            return nil
        }
        let value = { (key: String) -> Value? in
            section.count(key).map { .integer(Int64($0)) } ?? section.text(key).map { .text($0) }
        }
        let test: Test? =
            switch keys.first {
            case "equals": value("equals").map { .equals($0) }
            case "in": .isOneOf(section.texts("in"))
            case "not": value("not").map { .differs(from: $0) }
            case "null": .isNull(section.flag("null"))
            default: nil
            }
        guard let test else {
            if keys.isEmpty {
                let cause = "it needs one of equals, in, not and null"
                problems.report(.missingKey, "equals", in: section.place, cause)
            }
            return nil
        }
        self.init(column: section.column ?? "", test: test)
    }
}

extension CreationColumn {
    fileprivate init?(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let units = SettingType.choice(Unit.allCases.map(\.rawValue)).range
        problems.require(
            "created_at_unit",
            in: section,
            if: problems.isWritten("created_at_column", in: section.place),
            missing: "created_at_column needs it; it must be \(units)",
            needless: "it says nothing without created_at_column"
        )
        guard let column = section.text("created_at_column"),
            let unit: Unit = section.choice("created_at_unit")
        else { return nil }
        self.init(column: column, unit: unit)
    }
}

extension MaskStrategy {
    /// The values of `strategy`.
    enum Name: String, Sendable, CaseIterable {
        case null, constant, hash, random, truncate, remove
    }

    fileprivate init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        guard let name: Name = section.choice("strategy") else {
            self = .null
            return
        }
        for (key, owner) in [("value", Name.constant), ("length", .truncate)] {
            problems.require(
                key,
                in: section,
                if: name == owner,
                missing: "strategy \"\(owner.rawValue)\" needs it",
                needless:
                    "strategy \"\(name.rawValue)\" has no \(key); \"\(owner.rawValue)\" has"
            )
        }
        self =
            switch name {
            case .null: .null
            case .constant:
                section.count("value").map { .integer(Int64($0)) }
                    ?? .text(section.requiredText("value"))
            case .hash: .hash
            case .random: .random
            case .remove: .remove
            case .truncate: .truncate(length: section.requiredCount("length"))
            }
    }
}

extension KeyRule {
    /// Takes over what a rule says of the same column.
    fileprivate init(
        _ section: inout SettingsSection,
        _ rules: [TableRule],
        _ problems: inout SectionProblems
    ) {
        let (table, column) = (section.requiredText("table"), section.requiredText("column"))
        let idType: IDType = section.requiredChoice("id_type")
        let creation = CreationColumn(section, &problems)
        let isShared = section.flag("shared")
        let rule = rules.first {
            $0.table.lowercased() == table.lowercased()
                && $0.column.lowercased() == column.lowercased() && $0.inside == nil
        }
        if let rule {
            // A default says nothing, a key that is written must agree.
            for (key, isSame) in [
                ("id_type", idType == rule.idType),
                ("created_at_column", creation == rule.creation),
            ] where !isSame && problems.isWritten(key, in: section.place) {
                let cause = "the [[store.table]] of the same table and column says otherwise"
                problems.report(.contradiction, key, in: section.place, cause)
            }
            section.values["id_type"] = .text(rule.idType.rawValue)
            if isShared, rule.action != .delete {
                let cause =
                    "action \"\(rule.planAction.rawValue)\" leaves the rows, so that no id would"
                    + " ever be without owners"
                problems.report(.contradiction, "shared", in: section.place, cause)
            }
        }
        let user = TableRule(
            table: table,
            column: column,
            idType: idType,
            action: .keep,
            creation: creation
        )
        self.init(
            name: section.requiredText("name"),
            user: rule ?? user,
            value: section.requiredText("value"),
            valueType: section.requiredChoice("value_type"),
            isShared: isShared
        )
    }
}
