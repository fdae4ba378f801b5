internal import Lifecycle

/// Checks the rules against the live schema and compiles them.
struct PlanMaker {
    let rules: [TableRule]
    let keys: [KeyRule]
    /// Rows that are left alone.
    let holds: [RowFilter]
    let schema: LiveSchema
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []

    init(rules: WorkRules, schema: LiveSchema) {
        self.rules = rules.tables
        keys = rules.keys
        holds = rules.holds
        self.schema = schema
    }

    /// Makes the plan; `nil` when there are ``problems``.
    mutating func make() -> SQLitePurgePlan? {
        for rule in rules { check(rule) }
        for hold in holds { check(hold) }
        for key in keys { check(key) }
        if rules.isEmpty { problems.append("no table is configured") }
        guard problems.isEmpty else { return nil }
        var planner = ForeignKeyPlanner(
            tables: schema.tables.values.map { .init(name: $0.name, foreignKeys: $0.foreignKeys) },
            rules: rules,
            dialect: SQLiteDialect()
        )
        let order = planner.order()
        problems += planner.problems
        advice += planner.advice
        guard problems.isEmpty else { return nil }
        let tables = order.compactMap { rule -> TablePlan? in
            guard let shape = schema.table(rule.table) else { return nil }
            return TablePlan(
                rule: rule,
                shape: shape,
                cutoff: planner.cutoff(of: rule, in: shape.name),
                hold: planner.hold(of: rule, in: shape.name, filters: holds),
                referring: planner.referring(to: rule, in: shape.name),
                isSelfReferencing: planner.isSelfReferencing(shape.name)
            )
        }
        return SQLitePurgePlan(
            schemaVersion: schema.version,
            tables: tables,
            keys: keys.compactMap { key in
                guard let shape = schema.table(key.table) else { return nil }
                return KeyPlan(rule: key, shape: shape, cutoff: cutoff(of: key, shape, planner))
            },
            isCircular: planner.isCircular
        )
    }

    /// The cutoff of the rule that deals with the same rows, or the key's own.
    private func cutoff(
        of key: KeyRule,
        _ shape: TableShape,
        _ planner: ForeignKeyPlanner<SQLiteDialect>
    ) -> String? {
        let rule = rules.first {
            $0.isOf(shape.name) && $0.column.lowercased() == key.column.lowercased()
        }
        return planner.cutoff(of: rule ?? key.userRule, in: shape.name)
    }

    // MARK: One rule

    private mutating func check(_ key: KeyRule) {
        check(key.userRule)
        guard let shape = schema.table(key.table), shape.kind == "table",
            let column = column(key.value, of: shape)
        else { return }
        checkID(key.valueRule, column, shape, setting: "value_type", needsIndex: key.isShared)
    }

    private mutating func check(_ rule: TableRule) {
        guard let shape = schema.table(rule.table) else {
            problems.append("table '\(rule.table)' does not exist")
            return
        }
        guard shape.kind == "table" else {
            problems.append("'\(rule.table)' is a \(shape.kind), not a table")
            return
        }
        if shape.rowIDName == nil && shape.primaryKey.isEmpty {
            problems.append("table '\(rule.table)' has columns named rowid, _rowid_ and oid")
        }
        if let column = column(rule.column, of: shape) { checkID(rule, column, shape) }
        if let creation = rule.creation { checkCreation(creation, shape) }
        if case .anonymize(let masks) = rule.action {
            if masks.isEmpty { problems.append("table '\(rule.table)': anonymize sets no column") }
            for mask in masks { checkMask(mask, shape) }
        }
    }

    /// A hold that cannot be kept forbids to purge at all.
    private mutating func check(_ hold: RowFilter) {
        guard let shape = schema.table(hold.table), rules.contains(where: { $0.isOf(shape.name) })
        else {
            problems.append("table '\(hold.table)', which has held rows, has no rule")
            return
        }
        for condition in hold.conditions { _ = column(condition.column, of: shape) }
    }

    private mutating func column(_ name: String, of shape: TableShape) -> ColumnShape? {
        let column = shape.column(name)
        if column == nil { problems.append("table '\(shape.name)' has no column '\(name)'") }
        return column
    }

    private mutating func checkID(
        _ rule: TableRule,
        _ column: ColumnShape,
        _ shape: TableShape,
        setting: String = "id_type",
        needsIndex: Bool = true
    ) {
        let fits =
            switch rule.idType {
            case .text: column.affinity == .text || column.affinity == .none
            case .integer: column.affinity != .text && column.affinity != .real
            case .blob: column.affinity == .none
            case .uuid: false
            }
        if !fits {
            problems.append(
                "column '\(column.name)' of table '\(shape.name)' is declared"
                    + " '\(column.declaredType)' (\(column.affinity.rawValue) affinity), which"
                    + " \(setting) \"\(rule.idType.rawValue)\" never matches"
            )
        }
        if rule.idType == .text && !column.isBinary {
            advice.append(
                "column '\(column.name)' of table '\(shape.name)' compares as"
                    + " \(column.collation); expunged compares byte for byte"
            )
        }
        if needsIndex, !shape.indexedColumns.contains(column.name.lowercased()) {
            advice.append(
                "column '\(column.name)' of table '\(shape.name)' has no index, so every purge"
                    + " reads the whole table"
            )
        }
    }

    private mutating func checkCreation(_ creation: CreationColumn, _ shape: TableShape) {
        guard let column = column(creation.column, of: shape) else { return }
        if creation.unit == .timestamp {
            problems.append(
                "SQLite has no type for times; created_at_unit of table '\(shape.name)' must be"
                    + " another than \"timestamp\""
            )
        } else if creation.unit != .iso8601 && column.affinity == .text {
            problems.append(
                "column '\(column.name)' of table '\(shape.name)' stores text, not"
                    + " \(creation.unit.rawValue)"
            )
        }
    }

    private mutating func checkMask(_ mask: ColumnMask, _ shape: TableShape) {
        guard let column = column(mask.column, of: shape) else { return }
        let place = "column '\(column.name)' of table '\(shape.name)'"
        if column.isGenerated { problems.append("\(place) is generated and cannot be set") }
        if column.primaryKeyPosition > 0 {
            problems.append("\(place) belongs to the primary key and cannot be anonymized")
        }
        switch mask.strategy {
        case .null where column.isNotNull:
            problems.append("\(place) is NOT NULL, so the strategy null cannot be used")
        case .hash, .random, .truncate:
            if column.affinity != .text && (column.affinity != .none || shape.isStrict) {
                problems.append(
                    "\(place) does not store text, which hash, random and truncate write"
                )
            }
            if mask.strategy == .hash, shape.uniqueColumns.contains(column.name.lowercased()) {
                problems.append(MaskText.repeats(place))
            }
            guard case .truncate(let length) = mask.strategy else { break }
            if length < 0 { problems.append("\(place): the length to truncate to is negative") }
            if shape.uniqueColumns.contains(column.name.lowercased()) {
                problems.append("\(place) is unique, so two users cannot share a value")
            }
        case .text, .integer:
            if shape.uniqueColumns.contains(column.name.lowercased()) {
                problems.append("\(place) is unique, so two users cannot share a value")
            }
        case .null: break
        }
    }
}

extension TableRule {
    /// SQLite compares names without regard to ASCII case.
    fileprivate func isOf(_ table: String) -> Bool {
        self.table.lowercased() == table.lowercased()
    }
}

/// SQLite's own.
struct SQLiteDialect: SQLDialect {
    func key(_ name: String) -> String { name.lowercased() }

    func quoted(_ identifier: String) -> String { CutoffSQL.quoted(identifier) }

    func reference(_ table: String) -> String { CutoffSQL.quoted(table) }

    func hasTimestamps(_ creation: CreationColumn, of table: String, as reference: String) -> String
    {
        CutoffSQL.hasTimestamps(creation, of: reference)
    }

    /// Compares as the column does, and by text, so that neither type nor collation lets a held row
    /// slip through.
    func isHeld(_ filter: RowFilter, of table: String, as reference: String) -> String {
        let tests = filter.conditions.map { condition in
            let column = "\(reference).\(quoted(condition.column))"
            let values = condition.values.map { "'" + $0.replacing("'", with: "''") + "'" }
                .joined(separator: ", ")
            return "ifnull(\(column) IN (\(values)) OR CAST(\(column) AS TEXT) IN (\(values)), 0)"
        }
        return "(" + tests.joined(separator: " AND ") + ")"
    }
}
