internal import Lifecycle

/// All rules of a target in the order of work, for the catalogs of one moment.
struct PostgreSQLPlan: Sendable {
    let tables: [PostgreSQLTablePlan]
    let keys: [PostgreSQLKeyPlan]
    let isCircular: Bool
}

/// Checks the rules against the live catalogs and compiles them.
struct PostgreSQLPlanMaker {
    let rules: [TableRule]
    let keys: [KeyRule]
    /// Rows that are left alone.
    let holds: [RowFilter]
    let catalog: PostgreSQLCatalog
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []

    /// - Parameters:
    ///   - rules: As configured; tables may be named with their schema.
    ///   - catalog: What there is.
    init(rules: WorkRules, catalog: PostgreSQLCatalog) {
        let claims = SchemaClaims(rules: rules.tables, keys: rules.keys)
        let resolved = Self.resolved(claims, catalog)
        (self.rules, keys) = (resolved.rules, resolved.keys)
        holds = rules.holds.map { hold in
            RowFilter(
                table: catalog.table(hold.table)?.name ?? hold.table,
                conditions: hold.conditions
            )
        }
        self.catalog = catalog
    }

    /// The same, with tables named as the catalog does.
    static func resolved(_ claims: SchemaClaims, _ catalog: PostgreSQLCatalog) -> SchemaClaims {
        SchemaClaims(
            rules: claims.rules.map { resolved($0, catalog) },
            keys: claims.keys.map { key in
                KeyRule(
                    name: key.name,
                    user: resolved(key.userRule, catalog),
                    value: key.value,
                    valueType: key.valueType,
                    isShared: key.isShared
                )
            }
        )
    }

    private static func resolved(_ rule: TableRule, _ catalog: PostgreSQLCatalog) -> TableRule {
        TableRule(
            table: catalog.table(rule.table)?.name ?? rule.table,
            column: rule.column,
            idType: rule.idType,
            action: rule.action,
            reason: rule.reason,
            creation: rule.creation
        )
    }

    /// Makes the plan; `nil` when there are ``problems``.
    mutating func make() -> PostgreSQLPlan? {
        for rule in rules { check(rule) }
        for hold in holds { check(hold) }
        for key in keys { check(key) }
        if rules.isEmpty { problems.append("no table is configured") }
        guard problems.isEmpty else { return nil }
        var planner = ForeignKeyPlanner(
            tables: catalog.tables.values.map { .init(name: $0.name, foreignKeys: $0.foreignKeys) },
            rules: rules,
            dialect: PostgreSQLDialect(tables: catalog.tables)
        )
        let order = planner.order()
        problems += planner.problems
        advice += planner.advice
        guard problems.isEmpty else { return nil }
        let tables = order.compactMap { rule -> PostgreSQLTablePlan? in
            guard let shape = catalog.tables[rule.table] else { return nil }
            return PostgreSQLTablePlan(
                rule: rule,
                shape: shape,
                cutoff: planner.cutoff(of: rule, in: shape.name),
                hold: planner.hold(of: rule, in: shape.name, filters: holds),
                isSelfReferencing: planner.isSelfReferencing(shape.name)
            )
        }
        let keys = keys.compactMap { key -> PostgreSQLKeyPlan? in
            guard let shape = catalog.tables[key.table] else { return nil }
            // The cutoff of the rule that deals with the same rows, or the key's own.
            let rule = rules.first { $0.table == key.table && $0.column == key.column }
            return PostgreSQLKeyPlan(
                rule: key,
                shape: shape,
                cutoff: planner.cutoff(of: rule ?? key.userRule, in: shape.name)
            )
        }
        return PostgreSQLPlan(tables: tables, keys: keys, isCircular: planner.isCircular)
    }

    // MARK: One rule

    private mutating func check(_ key: KeyRule) {
        check(key.userRule)
        guard let shape = catalog.tables[key.table], ["r", "p"].contains(shape.kind),
            let column = column(key.value, of: shape)
        else { return }
        checkID(key.valueRule, column, shape, setting: "value_type", needsIndex: key.isShared)
    }

    private mutating func check(_ rule: TableRule) {
        guard let shape = catalog.tables[rule.table] else {
            problems.append("table '\(rule.table)' does not exist, or its schema is not listed")
            return
        }
        guard ["r", "p"].contains(shape.kind) else {
            problems.append("'\(shape.name)' is a view or a foreign table, not a table")
            return
        }
        if !shape.canSelect { problems.append("the role may not SELECT from '\(shape.name)'") }
        switch rule.action {
        case .delete:
            if !shape.canDelete { problems.append("the role may not DELETE from '\(shape.name)'") }
            if !shape.canLock {
                advice.append(
                    "the role may not UPDATE '\(shape.name)': rows that others have locked are"
                        + " waited for, not passed over"
                )
            }
        case .anonymize(let masks):
            if masks.isEmpty { problems.append("table '\(shape.name)': anonymize sets no column") }
            for mask in masks { checkMask(mask, shape) }
        case .keep: break
        }
        if let column = column(rule.column, of: shape) { checkID(rule, column, shape) }
        if let creation = rule.creation { checkCreation(creation, shape) }
    }

    /// A hold that cannot be kept forbids to purge at all.
    private mutating func check(_ hold: RowFilter) {
        guard let shape = catalog.tables[hold.table],
            rules.contains(where: { $0.table == shape.name })
        else {
            problems.append("table '\(hold.table)', which has held rows, has no rule")
            return
        }
        for condition in hold.conditions { _ = column(condition.column, of: shape) }
    }

    private mutating func column(
        _ name: String,
        of shape: PostgreSQLTable
    ) -> PostgreSQLColumn? {
        let column = shape.column(name)
        if column == nil { problems.append("table '\(shape.name)' has no column '\(name)'") }
        return column
    }

    private mutating func checkID(
        _ rule: TableRule,
        _ column: PostgreSQLColumn,
        _ shape: PostgreSQLTable,
        setting: String = "id_type",
        needsIndex: Bool = true
    ) {
        let fits =
            switch rule.idType {
            case .text: PostgreSQLColumn.textTypes.contains(column.type) || column.type == "citext"
            case .integer: PostgreSQLColumn.integerTypes.contains(column.type)
            case .blob: column.type == "bytea"
            case .uuid: column.type == "uuid"
            }
        if !fits {
            problems.append(
                "column '\(column.name)' of table '\(shape.name)' is of type '\(column.type)',"
                    + " which \(setting) \"\(rule.idType.rawValue)\" never matches"
            )
        }
        if column.type == "citext" || !column.isDeterministic {
            advice.append(
                "column '\(column.name)' of table '\(shape.name)' takes different texts for equal;"
                    + " expunged compares byte for byte"
            )
        }
        if needsIndex, !shape.indexedColumns.contains(column.name) {
            advice.append(
                "column '\(column.name)' of table '\(shape.name)' has no index, so every purge"
                    + " reads the whole table"
            )
        }
    }

    private mutating func checkCreation(_ creation: CreationColumn, _ shape: PostgreSQLTable) {
        guard let column = column(creation.column, of: shape) else { return }
        let fits =
            switch creation.unit {
            case .unixSeconds, .unixMilliseconds:
                PostgreSQLColumn.numberTypes.contains(column.type)
            case .timestamp: PostgreSQLColumn.timeTypes.contains(column.type)
            case .iso8601: false
            }
        if !fits {
            problems.append(
                "column '\(column.name)' of table '\(shape.name)' is of type '\(column.type)', not"
                    + " \(creation.unit.rawValue); use \"timestamp\" for the server's types of time"
            )
        }
    }

    private mutating func checkMask(_ mask: ColumnMask, _ shape: PostgreSQLTable) {
        guard let column = column(mask.column, of: shape) else { return }
        let place = "column '\(column.name)' of table '\(shape.name)'"
        if column.isGenerated { problems.append("\(place) is generated and cannot be set") }
        if !column.canUpdate { problems.append("the role may not UPDATE \(place)") }
        if shape.primaryKey.contains(column.name) {
            problems.append("\(place) belongs to the primary key and cannot be anonymized")
        }
        let isText = PostgreSQLColumn.textTypes.contains(column.type) || column.type == "citext"
        switch mask.strategy {
        case .null where column.isNotNull:
            problems.append("\(place) is NOT NULL, so the strategy null cannot be used")
        case .hash, .random:
            if !isText { problems.append("\(place) holds no text, which hash and random write") }
            if let lengthMax = column.lengthMax, lengthMax < MaskText.length {
                problems.append(
                    "\(place) holds \(lengthMax) characters, and hash and random write"
                        + " \(MaskText.length)"
                )
            }
            if mask.strategy == .hash, shape.uniqueColumns.contains(column.name) {
                problems.append(MaskText.repeats(place))
            }
        case .truncate where !isText:
            problems.append("\(place) holds no text to truncate")
        case .truncate(let length) where length >= column.lengthMax ?? .max:
            problems.append(
                "\(place) holds \(column.lengthMax ?? 0) characters, and truncate leaves \(length)"
                    + " and writes '\(MaskText.cut)' behind them"
            )
        case .text, .integer, .truncate:
            if shape.uniqueColumns.contains(column.name) {
                problems.append("\(place) is unique, so two users cannot share a value")
            }
        case .null: break
        }
    }
}
