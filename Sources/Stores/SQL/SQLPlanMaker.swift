import Lifecycle

/// Checks the rules against the live schema and compiles them.
struct SQLPlanMaker<Dialect: SQLDialect> {
    let rules: [TableRule]
    private let keys: [KeyRule]
    private let holds: [RowFilter]
    /// Tables that other stores have rules for.
    private let neighbours: Set<String>
    let schema: SQLSchema
    var found = SQLFindings()
    /// What may keep deletions from ever ending.
    private(set) var blocking: [BlockingKey] = []

    init(_ rules: WorkRules, _ schema: SQLSchema) {
        let claims = schema.resolved(SchemaClaims(rules: rules.tables, keys: rules.keys))
        (self.rules, keys) = (claims.rules, claims.keys)
        holds = rules.holds.map { hold in
            RowFilter(
                table: schema.table(hold.table)?.name ?? hold.table,
                conditions: hold.conditions
            )
        }
        neighbours = Set(
            schema.resolved(SchemaClaims(rules: rules.neighbours)).rules
                .filter { $0.action != .keep }.map(\.table)
        )
        self.schema = schema
    }

    /// Makes the plan; `nil` when there are problems.
    mutating func make() -> SQLPlan<Dialect>? {
        for rule in rules {
            found.section = section(of: rule)
            check(rule)
        }
        for hold in holds {
            found.section = section(ofTable: hold.table)
            check(hold)
        }
        for key in keys {
            found.section = section(of: key)
            check(key)
        }
        found.section = nil
        if rules.isEmpty { found.refuse("no table is configured") }
        guard found.problems.isEmpty else { return nil }
        var planner = ForeignKeyPlanner<Dialect>(schema, rules: rules, holds: holds)
        planner.neighbours = neighbours
        let order = planner.order()
        for (table, text) in planner.problems {
            found.section = section(ofTable: table)
            found.refuse(text)
        }
        found.section = nil
        found.advice += planner.advice
        blocking = planner.blocking
        guard found.problems.isEmpty else {
            for key in blocking where !key.isOfOwnRows { found.advise(key) }
            return nil
        }
        if rules.contains(where: { $0.inside != nil }), !listsUsers(order, planner) {
            found.advise(
                "all rules find ids inside values, which cannot be listed: a replay finds no user"
                    + " in a restored backup; write a rule for the table of users, too"
            )
        }
        return SQLPlan(
            schemaVersion: schema.version,
            tables: order.map { TablePlan($0, planner) },
            keys: keys.map { key in
                // The cutoff of the rule that deals with the same rows, or the key's own.
                let rule = rules.first {
                    $0.table == key.table && Dialect.isSame($0.column, key.userRule.column)
                }
                let shape = planner.shape(key.table)
                let cutoff = planner.cutoff(of: rule ?? key.userRule, in: shape)
                return KeyPlan(key, planner, cutoff: cutoff)
            },
            isCircular: planner.isCircular
        )
    }

    private func listsUsers(_ rules: [TableRule], _ planner: ForeignKeyPlanner<Dialect>) -> Bool {
        rules.contains { $0.action.changesRows && planner.root(of: $0).inside == nil }
    }

    // MARK: Sections of the configuration

    /// The one of a rule; `nil` where the database's own keys made the rule.
    func section(of rule: TableRule) -> String? {
        rules.firstIndex(of: rule).map { "table[\($0)]" }
    }

    func section(of key: KeyRule) -> String? { keys.firstIndex(of: key).map { "key[\($0)]" } }

    private func section(ofTable table: String) -> String? {
        rules.first { $0.table == table }.flatMap { section(of: $0) }
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
            found.refuse("table '\(rule.table)' does not exist\(Dialect.absence)")
            return
        }
        guard shape.problem == nil else {
            if let problem = shape.problem { found.refuse(problem) }
            return
        }
        checkRights(rule, shape)
        if let column = column(rule.column, of: shape) { check(rule, column, shape) }
        for part in rule.otherParts {
            if let column = column(part.column, of: shape) {
                checkID(part, column, shape, setting: "the type in id_template", needsIndex: false)
            }
        }
        for condition in rule.conditions { check(condition.values, of: condition.column, shape) }
        if let creation = rule.creation { checkCreation(creation, shape) }
        switch rule.action {
        case .delete:
            if !shape.canLock {
                found.advise(
                    "the role may not UPDATE '\(shape.name)': rows that others have locked are"
                        + " waited for, not passed over"
                )
            }
        case .anonymize(let masks):
            if masks.isEmpty { found.refuse("table '\(shape.name)': anonymize sets no column") }
            for mask in masks { checkMask(mask, rule, shape) }
        case .keep, .cascade: break
        }
    }

    private mutating func checkRights(_ rule: TableRule, _ shape: TableShape) {
        let grant = shape.grant(for: rule, Dialect.self) { $0 == false }
        guard let grant else { return }
        found.refuse("the role lacks privileges on '\(shape.name)'", remedy: grant)
    }

    private mutating func check(_ rule: TableRule, _ column: ColumnShape, _ shape: TableShape) {
        if let inside = rule.inside { checkInside(inside, rule, column, shape) }
        if let via = rule.via {
            checkVia(rule, via, shape)
            if rule.inside == nil { adviseIndex(rule, column, shape) }
        } else if rule.inside == nil {
            checkID(rule, column, shape)
            checkIdentity(rule, column, shape)
        }
    }

    /// A database may compare a value that the column never has as another one: MySQL takes `User`
    /// for 0.
    private mutating func check(_ values: [String], of name: String, _ shape: TableShape) {
        guard let column = column(name, of: shape) else { return }
        let place = "column '\(column.name)' of table '\(shape.name)'"
        let problem = values.lazy.compactMap { Dialect.problem(ofValue: $0, in: column) }.first
        if let problem { found.refuse("\(place) \(problem)") }
    }

    /// Whether the column can hold ids inside its values, and what that costs.
    private mutating func checkInside(
        _ inside: InsideValue,
        _ rule: TableRule,
        _ column: ColumnShape,
        _ shape: TableShape
    ) {
        let place = "column '\(column.name)' of table '\(shape.name)'"
        // What via names is compared as a text, or as the elements of an array are.
        let elements: [IDType] = [.integer, .uuid, .text]
        let isKnown = rule.via != nil && inside == .array
        let types = isKnown ? elements : [rule.idType]
        let problems = types.map { Dialect.problem(of: inside, column, $0) }
        if !problems.contains(nil), let problem = problems.last ?? nil {
            found.refuse("\(place) \(problem)")
        }
        found.advise(
            "\(place) is searched for ids inside its values, so every purge reads the whole table"
        )
    }

    private mutating func adviseIndex(_ rule: TableRule, _ column: ColumnShape, _ shape: TableShape)
    {
        let others = rule.conditions.filter(\.isEqual).map(\.column) + rule.otherParts.map(\.column)
        guard !shape.isIndexed(column.name, beside: others) else { return }
        found.advise(
            "column '\(column.name)' of table '\(shape.name)' has no index, so every purge reads"
                + " the whole table; \(shape.index(on: column.name, Dialect.self)) mends that"
        )
    }

    /// A hold that cannot be kept forbids to purge at all.
    private mutating func check(_ hold: RowFilter) {
        guard let shape = schema.table(hold.table),
            rules.contains(where: { $0.table == shape.name })
        else {
            found.refuse("table '\(hold.table)', which has held rows, has no rule")
            return
        }
        for condition in hold.conditions { check(condition.values, of: condition.column, shape) }
    }

    mutating func column(_ name: String, of shape: TableShape) -> ColumnShape? {
        let column = Dialect.shape(name, in: shape)
        if column == nil { found.refuse("table '\(shape.name)' has no column '\(name)'") }
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
            found.refuse(
                "\(place) \(column.typeText), which \(setting) \"\(rule.idType.rawValue)\" never"
                    + " matches"
            )
        }
        if rule.idType == .text, let comparison = column.comparison {
            found.advise("\(place) \(comparison); expunged compares byte for byte")
        }
        if needsIndex { adviseIndex(rule, column, shape) }
    }

    private mutating func checkCreation(_ creation: CreationColumn, _ shape: TableShape) {
        guard let column = column(creation.column, of: shape),
            !column.units.contains(creation.unit)
        else { return }
        let fitting = column.units.map { "\"\($0.rawValue)\"" }.sorted().joined(separator: ", ")
        found.refuse(
            "column '\(column.name)' of table '\(shape.name)' \(column.typeText), not"
                + " \(creation.unit.rawValue)"
                + (fitting.isEmpty ? "" : "; created_at_unit can be \(fitting)")
        )
    }

    private mutating func checkMask(_ mask: ColumnMask, _ rule: TableRule, _ shape: TableShape) {
        guard let column = column(mask.column, of: shape) else { return }
        let place = "column '\(column.name)' of table '\(shape.name)'"
        if column.isGenerated { found.refuse("\(place) is generated and cannot be set") }
        if column.isPrimaryKey {
            found.refuse("\(place) belongs to the primary key and cannot be anonymized")
        }
        if mask.path != nil || rule.changesPart(mask) {
            checkPart(mask, rule, column, place)
            return
        }
        if let problem = Self.problem(of: mask.strategy, column)
            ?? Dialect.problem(of: mask.strategy, column, in: shape)
        {
            found.refuse("\(place) \(problem)")
        }
    }

    /// Whether a part of the value can be changed so.
    private mutating func checkPart(
        _ mask: ColumnMask,
        _ rule: TableRule,
        _ column: ColumnShape,
        _ place: String
    ) {
        if let path = mask.path, !rule.changesPart(mask) {
            if let problem = Dialect.problem(of: .json(path), column, .text) {
                found.refuse("\(place) \(problem)")
            }
        }
        if column.isUnique {
            found.refuse("\(place) is unique, so a part of it cannot be changed")
        }
        if rule.masks.contains(where: { $0.strategy == .hash || $0.strategy == .random }) {
            found.refuse(
                "\(place): hash and random cannot stand in one rule with a change of a part; write"
                    + " two rules"
            )
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
        case .remove: return "is no part of a value; remove needs inside or path"
        case .text, .integer: break
        }
        return column.isUnique ? "is unique, so two users cannot share a value" : nil
    }
}
