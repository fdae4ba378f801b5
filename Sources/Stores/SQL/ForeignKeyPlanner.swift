import Lifecycle

/// Order, cutoffs and dangers of a set of rules, by the foreign keys of the live schema.
///
/// Every rule's table exists, and rules, holds and foreign keys name tables as the schema does.
struct ForeignKeyPlanner<Dialect: SQLDialect> {
    /// Deeper than any schema that is worked with by hand; beyond it everything stays.
    static var depthMax: Int { 16 }

    private let schema: SQLSchema
    let rules: [TableRule]
    /// Rows that are left alone.
    let holds: [RowFilter]
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []
    /// Tables with rules refer to each other in a circle, so that no order is children first.
    private(set) var isCircular = false

    init(_ schema: SQLSchema, rules: [TableRule], holds: [RowFilter]) {
        self.schema = schema
        self.rules = rules
        self.holds = holds
    }

    func shape(_ table: String) -> TableShape {
        schema.table(table) ?? TableShape(name: table, reference: Dialect.quoted(table))
    }

    func isSelfReferencing(_ table: TableShape) -> Bool {
        table.foreignKeys.contains { $0.parent == table.name }
    }

    func children(of table: String) -> [(table: TableShape, key: ForeignKey)] {
        schema.tables.flatMap { child in
            child.foreignKeys.filter { $0.parent == table }.map { (table: child, key: $0) }
        }
    }

    func rules(of table: String) -> [TableRule] { rules.filter { $0.table == table } }

    /// These tables and those that their rows refer to, directly or through others.
    func withParents(_ names: [String]) -> Set<String> {
        var found: Set<String> = []
        var open = names
        while let next = open.popLast() {
            guard found.insert(next).inserted else { continue }
            open += schema.table(next)?.foreignKeys.map(\.parent) ?? []
        }
        return found
    }

    /// Whether any of the rows that refer to the row `reference` is one of `kinds`, which are
    /// expressions over `alias`.
    func refers(
        _ child: TableShape,
        as alias: String,
        by key: ForeignKey,
        to reference: String,
        whereAny kinds: [String] = ["1 = 1"]
    ) -> String {
        let join = zip(key.childColumns, key.parentColumns).map { column, parent in
            "\(Dialect.column(column, of: alias)) = \(Dialect.column(parent, of: reference))"
        }
        return "EXISTS (SELECT 1 FROM \(child.reference) AS \(alias) WHERE "
            + join.joined(separator: " AND ")
            + " AND (\(kinds.joined(separator: " OR "))))"
    }

    /// Children before parents, otherwise as configured; a circle keeps the configured order.
    ///
    /// Fills in ``problems``, ``advice`` and ``isCircular``.
    mutating func order() -> [TableRule] {
        for rule in rules where rule.action == .delete {
            var visited: Set<String> = [rule.table]
            checkChildren(of: rule.table, deletedFor: rule.table, &visited)
        }
        var rest = rules
        var result: [TableRule] = []
        while !rest.isEmpty {
            let next = rest.firstIndex { rule in
                !children(of: rule.table).contains { child in
                    child.table.name != rule.table
                        && rest.contains { $0.table == child.table.name }
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
        for (child, key) in children(of: table)
        where key.onDelete == "RESTRICT" && child.name != table
            && rest.contains(where: { $0.table == child.name })
        {
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
            if key.cascades && visited.insert(child.name).inserted {
                checkChildren(of: child.name, deletedFor: origin, &visited)
            }
        }
    }

    /// Advises of rows that may be other users': no rule of the child is about the key's column.
    private mutating func adviseOthers(_ child: String, _ key: ForeignKey, _ rules: [TableRule]) {
        let isRuled = rules.contains { rule in
            key.childColumns.contains { Dialect.isSame($0, rule.column) }
        }
        guard !isRuled, key.cascades || key.restricts else { return }
        let named = key.childColumns.joined(separator: "', '")
        let sentence =
            key.cascades
            ? "deleting from '\(key.parent)' cascades into '\(child)' by '\(named)': rows there"
                + " that are of other users go with it and are not counted, also while such a"
                + " user is held"
            : "rows of other users in '\(child)' refer to '\(key.parent)' by '\(named)' and can"
                + " stop the deletion of a user"
        if !advice.contains(sentence) { advice.append(sentence) }
    }

    /// Whether the rule itself takes the reference away before the parent goes.
    private func clears(_ key: ForeignKey, _ rule: TableRule) -> Bool {
        guard case .anonymize(let masks) = rule.action else { return false }
        return key.childColumns.contains { child in
            masks.contains { Dialect.isSame($0.column, child) && $0.strategy == .null }
        }
    }
}
