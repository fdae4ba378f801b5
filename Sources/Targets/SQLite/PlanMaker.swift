/// Checks the rules against the live schema and compiles them.
struct PlanMaker {
    let rules: [TableRule]
    let schema: LiveSchema
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []
    /// Tables with rules that refer to each other in a circle, where the order broke it.
    private var circular: [String] = []

    init(rules: [TableRule], schema: LiveSchema) {
        self.rules = rules
        self.schema = schema
    }

    /// Makes the plan; `nil` when there are ``problems``.
    mutating func make() -> PurgePlan? {
        for rule in rules { check(rule) }
        if rules.isEmpty { problems.append("no table is configured") }
        guard problems.isEmpty else { return nil }
        checkForeignKeys()
        guard problems.isEmpty else { return nil }
        let order = ordered()
        guard problems.isEmpty else { return nil }
        let tables = order.compactMap { rule -> TablePlan? in
            guard let shape = schema.table(rule.table) else { return nil }
            return TablePlan(
                rule: rule,
                shape: shape,
                fence: fence(of: rule, shape),
                isSelfReferencing: shape.foreignKeys.contains { refers($0, to: shape.name) }
            )
        }
        return PurgePlan(
            schemaVersion: schema.version,
            tables: tables,
            isCircular: !circular.isEmpty
        )
    }

    // MARK: One rule

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

    private mutating func column(_ name: String, of shape: TableShape) -> ColumnShape? {
        let column = shape.column(name)
        if column == nil { problems.append("table '\(shape.name)' has no column '\(name)'") }
        return column
    }

    private mutating func checkID(_ rule: TableRule, _ column: ColumnShape, _ shape: TableShape) {
        let fits =
            switch rule.idType {
            case .text: column.affinity == .text || column.affinity == .none
            case .integer: column.affinity != .text && column.affinity != .real
            case .blob: column.affinity == .none
            }
        if !fits {
            problems.append(
                "column '\(column.name)' of table '\(shape.name)' is declared"
                    + " '\(column.declaredType)' (\(column.affinity.rawValue) affinity), which"
                    + " id_type \"\(rule.idType.rawValue)\" never matches"
            )
        }
        if rule.idType == .text && !column.isBinary {
            advice.append(
                "column '\(column.name)' of table '\(shape.name)' compares as"
                    + " \(column.collation); expunged compares byte for byte"
            )
        }
        if !shape.indexedColumns.contains(column.name.lowercased()) {
            advice.append(
                "column '\(column.name)' of table '\(shape.name)' has no index, so every purge"
                    + " reads the whole table"
            )
        }
    }

    private mutating func checkCreation(_ creation: CreationColumn, _ shape: TableShape) {
        guard let column = column(creation.column, of: shape) else { return }
        if creation.unit != .iso8601 && column.affinity == .text {
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
        case .hash, .random:
            if column.affinity != .text && (column.affinity != .none || shape.isStrict) {
                problems.append("\(place) does not store text, which hash and random write")
            }
        case .truncate(let length) where length < 0:
            problems.append("\(place): the length to truncate to is negative")
        case .text, .integer, .truncate:
            if shape.uniqueColumns.contains(column.name.lowercased()) {
                problems.append("\(place) is unique, so two users cannot share a value")
            }
        case .null: break
        }
    }

    // MARK: Foreign keys

    private func refers(_ key: ForeignKey, to table: String) -> Bool {
        key.parent.lowercased() == table.lowercased()
    }

    private func children(of table: String) -> [(shape: TableShape, key: ForeignKey)] {
        schema.tables.values.sorted { $0.name < $1.name }.flatMap { shape in
            shape.foreignKeys.filter { refers($0, to: table) }.map { (shape: shape, key: $0) }
        }
    }

    private func rules(of table: String) -> [TableRule] {
        rules.filter { $0.table.lowercased() == table.lowercased() }
    }

    /// Finds what deleting a table's rows would do to the rows that refer to them.
    private mutating func checkForeignKeys() {
        for rule in rules where rule.action == .delete {
            var visited: Set<String> = [rule.table.lowercased()]
            checkChildren(of: rule.table, deletedFor: rule.table, &visited)
        }
    }

    private mutating func checkChildren(
        of table: String,
        deletedFor origin: String,
        _ visited: inout Set<String>
    ) {
        for (shape, key) in children(of: table) {
            let childRules = rules(of: shape.name)
            let preserving = childRules.contains { $0.action != .delete && !clears(key, $0) }
            if key.cascades && preserving {
                problems.append(
                    "deleting from '\(origin)' would cascade into '\(shape.name)', whose rows are"
                        + " to be kept"
                )
            } else if key.restricts && preserving {
                problems.append(
                    "rows kept in '\(shape.name)' refer to '\(origin)' and would stop its deletion"
                )
            } else if childRules.isEmpty && key.cascades {
                advice.append(
                    "deleting from '\(origin)' cascades into '\(shape.name)', which no rule counts"
                )
            } else if childRules.isEmpty && key.restricts {
                advice.append("rows of '\(shape.name)' can stop the deletion from '\(origin)'")
            }
            if key.cascades && visited.insert(shape.name.lowercased()).inserted {
                checkChildren(of: shape.name, deletedFor: origin, &visited)
            }
        }
    }

    /// Whether the rule itself takes the reference away before the parent goes.
    private func clears(_ key: ForeignKey, _ rule: TableRule) -> Bool {
        guard case .anonymize(let masks) = rule.action else { return false }
        return key.childColumns.contains { child in
            masks.contains {
                $0.column.lowercased() == child.lowercased() && $0.strategy == .null
            }
        }
    }

    /// Children before parents, otherwise as configured; a cycle keeps the configured order.
    private mutating func ordered() -> [TableRule] {
        var rest = rules
        var result: [TableRule] = []
        while !rest.isEmpty {
            let next = rest.firstIndex { rule in
                !children(of: rule.table).contains { child in
                    child.shape.name.lowercased() != rule.table.lowercased()
                        && rest.contains {
                            $0.table.lowercased() == child.shape.name.lowercased()
                        }
                }
            }
            if next == nil, let first = rest.first, first.action == .delete {
                noteCircle(at: first.table, among: rest)
            }
            result.append(rest.remove(at: next ?? 0))
        }
        return result
    }

    /// No order is children first: the keys are checked when a transaction ends.
    ///
    /// `RESTRICT` acts at once, whatever is deferred (sqlite.org/foreignkeys.html, 4.3).
    private mutating func noteCircle(at table: String, among rest: [TableRule]) {
        circular.append(table)
        let names = Set(rest.map { $0.table.lowercased() })
        let blockers = children(of: table).filter {
            $0.key.onDelete == "RESTRICT" && names.contains($0.shape.name.lowercased())
        }
        for (shape, _) in blockers where shape.name.lowercased() != table.lowercased() {
            problems.append(
                "'\(shape.name)' refers to '\(table)' with ON DELETE RESTRICT and '\(table)' to it,"
                    + " so that neither can be deleted first"
            )
        }
        advice.append(
            "foreign keys lead from '\(table)' in a circle; a user with more rows there than one"
                + " transaction takes may be refused"
        )
    }

    // MARK: Fence

    /// What protects a row: its own time, or a newer row that refers to it and would go with it.
    private func fence(of rule: TableRule, _ shape: TableShape) -> String? {
        var visited: Set<String> = [shape.name.lowercased()]
        var terms: [String] = []
        if let creation = rule.creation {
            terms.append(FenceSQL.isFenced(creation, of: shape.name))
        }
        if rule.action == .delete {
            terms += childFences(of: shape.name, as: shape.name, &visited)
        }
        return terms.isEmpty ? nil : "(" + terms.joined(separator: " OR ") + ")"
    }

    private func childFences(
        of table: String,
        as alias: String,
        _ visited: inout Set<String>
    ) -> [String] {
        var terms: [String] = []
        for (shape, key) in children(of: table) where key.cascades || key.restricts {
            guard key.childColumns.count == key.parentColumns.count else { continue }
            let isSelf = refers(key, to: shape.name)
            guard isSelf || visited.insert(shape.name.lowercased()).inserted else { continue }
            // A table that refers to itself is followed one level deep.
            let childAlias = "newer\(visited.count)\(isSelf ? "s" : "")"
            var inner = isSelf ? [] : childFences(of: shape.name, as: childAlias, &visited)
            if let creation = rules(of: shape.name).compactMap(\.creation).first {
                inner.append(FenceSQL.isFenced(creation, of: childAlias))
            }
            guard !inner.isEmpty else { continue }
            let join = zip(key.childColumns, key.parentColumns).map { child, parent in
                "\(childAlias).\(FenceSQL.quoted(child))"
                    + " = \(FenceSQL.quoted(alias)).\(FenceSQL.quoted(parent))"
            }
            terms.append(
                "EXISTS (SELECT 1 FROM \(FenceSQL.quoted(shape.name)) AS \(childAlias) WHERE "
                    + join.joined(separator: " AND ")
                    + " AND (\(inner.joined(separator: " OR "))))"
            )
        }
        return terms
    }
}
