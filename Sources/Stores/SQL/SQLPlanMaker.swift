import Lifecycle

/// Checks the rules against the live schema and compiles them.
struct SQLPlanMaker<Dialect: SQLDialect> {
    private let rules: [TableRule]
    private let keys: [KeyRule]
    private let holds: [RowFilter]
    private let schema: SQLSchema
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []

    init(_ rules: WorkRules, _ schema: SQLSchema) {
        let claims = schema.resolved(SchemaClaims(rules: rules.tables, keys: rules.keys))
        (self.rules, keys) = (claims.rules, claims.keys)
        holds = rules.holds.map { hold in
            RowFilter(
                table: schema.table(hold.table)?.name ?? hold.table,
                conditions: hold.conditions
            )
        }
        self.schema = schema
    }

    /// Makes the plan; `nil` when there are ``problems``.
    mutating func make() -> SQLPlan<Dialect>? {
        for rule in rules { check(rule) }
        for hold in holds { check(hold) }
        for key in keys { check(key) }
        if rules.isEmpty { problems.append("no table is configured") }
        guard problems.isEmpty else { return nil }
        var planner = ForeignKeyPlanner<Dialect>(schema, rules: rules, holds: holds)
        let order = planner.order()
        problems += planner.problems
        advice += planner.advice
        guard problems.isEmpty else { return nil }
        return SQLPlan(
            schemaVersion: schema.version,
            tables: order.map { TablePlan($0, planner) },
            keys: keys.map { key in
                // The cutoff of the rule that deals with the same rows, or the key's own.
                let rule = rules.first {
                    $0.table == key.table && Dialect.isSame($0.column, key.column)
                }
                let shape = planner.shape(key.table)
                let cutoff = planner.cutoff(of: rule ?? key.userRule, in: shape)
                return KeyPlan(key, shape, cutoff: cutoff, Dialect.self)
            },
            isCircular: planner.isCircular
        )
    }

    // MARK: One rule

    private mutating func check(_ key: KeyRule) {
        check(key.userRule)
        guard let shape = schema.table(key.table), shape.problem == nil,
            let column = column(key.value, of: shape)
        else { return }
        checkID(key.valueRule, column, shape, setting: "value_type", needsIndex: key.isShared)
    }

    private mutating func check(_ rule: TableRule) {
        guard let shape = schema.table(rule.table) else {
            problems.append("table '\(rule.table)' does not exist\(Dialect.absence)")
            return
        }
        guard shape.problem == nil else {
            problems += [shape.problem].compactMap(\.self)
            return
        }
        if !shape.canSelect { problems.append("the role may not SELECT from '\(shape.name)'") }
        if let column = column(rule.column, of: shape) { checkID(rule, column, shape) }
        if let creation = rule.creation { checkCreation(creation, shape) }
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
    }

    /// A hold that cannot be kept forbids to purge at all.
    private mutating func check(_ hold: RowFilter) {
        guard let shape = schema.table(hold.table),
            rules.contains(where: { $0.table == shape.name })
        else {
            problems.append("table '\(hold.table)', which has held rows, has no rule")
            return
        }
        for condition in hold.conditions { _ = column(condition.column, of: shape) }
    }

    private mutating func column(_ name: String, of shape: TableShape) -> ColumnShape? {
        let column = Dialect.shape(name, in: shape)
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
        let place = "column '\(column.name)' of table '\(shape.name)'"
        if !column.idTypes.contains(rule.idType) {
            problems.append(
                "\(place) \(column.typeText), which \(setting) \"\(rule.idType.rawValue)\" never"
                    + " matches"
            )
        }
        if rule.idType == .text, let comparison = column.comparison {
            advice.append("\(place) \(comparison); expunged compares byte for byte")
        }
        if needsIndex, !column.isIndexed {
            advice.append("\(place) has no index, so every purge reads the whole table")
        }
    }

    private mutating func checkCreation(_ creation: CreationColumn, _ shape: TableShape) {
        guard let column = column(creation.column, of: shape),
            !column.units.contains(creation.unit)
        else { return }
        let fitting = column.units.map { "\"\($0.rawValue)\"" }.sorted().joined(separator: ", ")
        problems.append(
            "column '\(column.name)' of table '\(shape.name)' \(column.typeText), not"
                + " \(creation.unit.rawValue)"
                + (fitting.isEmpty ? "" : "; created_at_unit can be \(fitting)")
        )
    }

    private mutating func checkMask(_ mask: ColumnMask, _ shape: TableShape) {
        guard let column = column(mask.column, of: shape) else { return }
        let place = "column '\(column.name)' of table '\(shape.name)'"
        if column.isGenerated { problems.append("\(place) is generated and cannot be set") }
        if !column.canUpdate { problems.append("the role may not UPDATE \(place)") }
        if column.isPrimaryKey {
            problems.append("\(place) belongs to the primary key and cannot be anonymized")
        }
        if let problem = Self.problem(of: mask.strategy, column) {
            problems.append("\(place) \(problem)")
        }
    }

    private static func problem(of strategy: MaskStrategy, _ column: ColumnShape) -> String? {
        let lengthMax = column.lengthMax ?? .max
        switch strategy {
        case .null:
            return column.isNotNull ? "is NOT NULL, so the strategy null cannot be used" : nil
        case .hash, .random, .truncate:
            guard column.holdsText else {
                return "holds no text, which hash, random and truncate write"
            }
            guard case .truncate(let length) = strategy else {
                if lengthMax < MaskText.length {
                    return "holds \(lengthMax) characters, and hash and random write"
                        + " \(MaskText.length)"
                }
                return strategy == .hash && column.isUnique ? MaskText.repeats : nil
            }
            if length < 0 { return "cannot be truncated to a negative length" }
            if length >= lengthMax {
                return "holds \(lengthMax) characters, and truncate leaves \(length) and writes"
                    + " '\(MaskText.cut)' behind them"
            }
        case .text, .integer: break
        }
        return column.isUnique ? "is unique, so two users cannot share a value" : nil
    }
}
