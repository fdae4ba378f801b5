/// Order, cutoffs and dangers of a set of rules, by the foreign keys of the live schema.
///
/// Every rule's table exists and is spelled so that the dialect's ``SQLDialect/key(_:)`` finds it.
struct ForeignKeyPlanner<Dialect: SQLDialect> {
    /// What it has to know of a table.
    struct Table {
        let name: String
        let foreignKeys: [ForeignKey]
    }

    let tables: [Table]
    let rules: [TableRule]
    let dialect: Dialect
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []
    /// Tables with rules refer to each other in a circle, so that no order is children first.
    private(set) var isCircular = false

    init(tables: [Table], rules: [TableRule], dialect: Dialect) {
        self.tables = tables.sorted { $0.name < $1.name }
        self.rules = rules
        self.dialect = dialect
    }

    /// Whether later rows, mostly the children, have to go first.
    func isSelfReferencing(_ table: String) -> Bool {
        children(of: table).contains { isSame($0.table.name, table) }
    }

    func isSame(_ one: String, _ other: String) -> Bool {
        dialect.key(one) == dialect.key(other)
    }

    func children(of table: String) -> [(table: Table, key: ForeignKey)] {
        tables.flatMap { child in
            child.foreignKeys.filter { isSame($0.parent, table) }.map { (table: child, key: $0) }
        }
    }

    func rules(of table: String) -> [TableRule] {
        rules.filter { isSame($0.table, table) }
    }

    /// These tables and those that their rows refer to, directly or through others; as keys.
    func withParents(_ names: [String]) -> Set<String> {
        var found: Set<String> = []
        var open = names
        while let next = open.popLast() {
            guard found.insert(dialect.key(next)).inserted else { continue }
            open += tables.filter { isSame($0.name, next) }.flatMap(\.foreignKeys).map(\.parent)
        }
        return found
    }

    /// Whether any of the rows that refer to a row is one of some kind.
    ///
    /// - Parameters:
    ///   - child: The table that refers.
    ///   - alias: Its name in the expression.
    ///   - key: Its key.
    ///   - reference: The row that is referred to, in SQL.
    ///   - kinds: Expressions over `alias`.
    /// - Returns: An expression.
    func refers(
        _ child: String,
        as alias: String,
        by key: ForeignKey,
        to reference: String,
        whereAny kinds: [String]
    ) -> String {
        let join = zip(key.childColumns, key.parentColumns).map { column, parent in
            "\(alias).\(dialect.quoted(column)) = \(reference).\(dialect.quoted(parent))"
        }
        return "EXISTS (SELECT 1 FROM \(dialect.reference(child)) AS \(alias) WHERE "
            + join.joined(separator: " AND ")
            + " AND (\(kinds.joined(separator: " OR "))))"
    }

    /// Children before parents, otherwise as configured; a circle keeps the configured order.
    ///
    /// Fills in ``problems``, ``advice`` and ``isCircular``.
    mutating func order() -> [TableRule] {
        check()
        var rest = rules
        var result: [TableRule] = []
        while !rest.isEmpty {
            let next = rest.firstIndex { rule in
                !children(of: rule.table).contains { child in
                    !isSame(child.table.name, rule.table)
                        && rest.contains { isSame($0.table, child.table.name) }
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
        isCircular = true
        let blockers = children(of: table).filter { child in
            child.key.onDelete == "RESTRICT"
                && rest.contains { isSame($0.table, child.table.name) }
        }
        for (child, _) in blockers where !isSame(child.name, table) {
            problems.append(
                "'\(child.name)' refers to '\(table)' with ON DELETE RESTRICT and '\(table)' to it,"
                    + " so that neither can be deleted first"
            )
        }
        advice.append(
            "foreign keys lead from '\(table)' in a circle; a user with more rows there than one"
                + " transaction takes may be refused"
        )
    }

    // MARK: Dangers

    /// Finds what deleting a table's rows would do to the rows that refer to them.
    private mutating func check() {
        for rule in rules where rule.action == .delete {
            var visited: Set<String> = [dialect.key(rule.table)]
            checkChildren(of: rule.table, deletedFor: rule.table, &visited)
        }
    }

    private mutating func checkChildren(
        of table: String,
        deletedFor origin: String,
        _ visited: inout Set<String>
    ) {
        for (child, key) in children(of: table) {
            let childRules = rules(of: child.name)
            let preserving = childRules.contains { $0.action != .delete && !clears(key, $0) }
            if key.cascades && preserving {
                problems.append(
                    "deleting from '\(origin)' would cascade into '\(child.name)', whose rows are"
                        + " to be kept"
                )
            } else if key.restricts && preserving {
                problems.append(
                    "rows kept in '\(child.name)' refer to '\(origin)' and would stop its deletion"
                )
            } else if childRules.isEmpty && key.cascades {
                advice.append(
                    "deleting from '\(origin)' cascades into '\(child.name)', which no rule counts"
                )
            } else if childRules.isEmpty && key.restricts {
                advice.append("rows of '\(child.name)' can stop the deletion from '\(origin)'")
            } else {
                adviseOthers(child.name, key, childRules)
            }
            if key.cascades && visited.insert(dialect.key(child.name)).inserted {
                checkChildren(of: child.name, deletedFor: origin, &visited)
            }
        }
    }

    /// Tells of rows that no rule deals with for the user who is deleted: whose they are is said by
    /// another column than the key.
    private mutating func adviseOthers(_ child: String, _ key: ForeignKey, _ rules: [TableRule]) {
        let columns = key.childColumns.map(dialect.key)
        guard !rules.contains(where: { columns.contains(dialect.key($0.column)) }) else { return }
        let named = key.childColumns.joined(separator: "', '")
        let sentence =
            if key.cascades {
                "deleting from '\(key.parent)' cascades into '\(child)' by '\(named)': rows there"
                    + " that are of other users go with it and are not counted, also while such a"
                    + " user is held"
            } else if key.restricts {
                "rows of other users in '\(child)' refer to '\(key.parent)' by '\(named)' and can"
                    + " stop the deletion of a user"
            } else {
                ""
            }
        if !sentence.isEmpty, !advice.contains(sentence) { advice.append(sentence) }
    }

    /// Whether the rule itself takes the reference away before the parent goes.
    private func clears(_ key: ForeignKey, _ rule: TableRule) -> Bool {
        guard case .anonymize(let masks) = rule.action else { return false }
        return key.childColumns.contains { child in
            masks.contains {
                dialect.key($0.column) == dialect.key(child) && $0.strategy == .null
            }
        }
    }
}
