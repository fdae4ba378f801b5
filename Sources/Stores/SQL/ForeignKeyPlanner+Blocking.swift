import Lifecycle

/// Foreign keys that can keep a deletion from ever ending, and what takes them away first.
extension ForeignKeyPlanner {
    // MARK: Order

    /// A rule that was placed has taken all references away, and none that follows it is left.
    func isCleared(
        _ key: ForeignKey,
        of child: TableShape,
        by placed: [TableRule],
        before rest: [TableRule]
    ) -> Bool {
        placed.contains { rule in
            rule.table == child.name && rule.conditions.isEmpty && clears(key, rule)
                && rule.via?.table == key.parent
                && key.childColumns.contains { Dialect.isSame($0, rule.column) }
        }
            && !rest.contains { rule in
                rule.table == child.name && rule.via?.table == key.parent
                    && key.childColumns.contains { Dialect.isSame($0, rule.column) }
            }
    }

    /// The rule takes away all references to rows that another rule deletes, and no rule that is
    /// left needs these references, or the rows of its table, to find its own.
    func clearsReference(_ rule: TableRule, amid rest: [TableRule]) -> Bool {
        guard rule.conditions.isEmpty,
            !rest.contains(where: { $0.via?.table == rule.table })
        else { return false }
        return shape(rule.table).foreignKeys.contains { key in
            key.parent != rule.table && key.restricts && clears(key, rule)
                && rest.contains { $0.table == key.parent && $0.action == .delete }
                && !rest.contains { other in
                    other != rule && other.table == rule.table
                        && key.childColumns.contains { Dialect.isSame($0, other.column) }
                }
        }
    }

    // MARK: Proof

    /// Only rows to which nothing refers any more are deleted there.
    func staysWhileReferred(_ table: String) -> Bool {
        let deleting = rules(of: table).filter { $0.action == .delete }
        return !deleting.isEmpty && deleting.allSatisfy(isReleased)
    }

    /// True for a row of a child that refers to a user's row and is not that user's; `nil` where
    /// the rules do not say whose rows these are.
    func othersProof(_ child: TableShape, _ key: ForeignKey, _ rules: [TableRule]) -> String? {
        let isTakenAlong = child.foreignKeys.contains { $0.cascades && !isRuled($0, rules) }
        guard !isTakenAlong, !child.hasTriggers, rules.allSatisfy(\.hasOwnID) else { return nil }
        return proof(child, key) { owner, parent in
            let terms = rules.map { rule -> String? in
                guard rule.idType == owner.idType,
                    let one = Dialect.shape(rule.column, in: child),
                    let other = Dialect.shape(owner.column, in: parent),
                    (one.type, one.collation) == (other.type, other.collation)
                else { return nil }
                let column = Dialect.column(rule.column, of: child.reference)
                return "(\(column) IS NULL OR \(column) <> "
                    + "\(Dialect.column(owner.column, of: parent.reference)))"
            }
            return terms.contains(nil) ? nil : terms.compactMap(\.self)
        }
    }

    /// True for a row of a circle that refers to a user's row, which is to go first.
    func circleProof(_ child: TableShape, _ key: ForeignKey, among rest: [TableRule]) -> String? {
        let own = rules(of: child.name)
        // Rows that went before, or that make the others wait, stop nothing.
        guard own.allSatisfy({ rest.contains($0) && $0.via?.table != key.parent }) else {
            return nil
        }
        return proof(child, key) { _, _ in [] }
    }

    /// Notes rows that are their own parents, which a tree is left with at its end.
    mutating func noteOwnRows(_ key: ForeignKey, of child: TableShape) {
        let isCleared = rules(of: child.name).contains { rule in
            rule.conditions.isEmpty && clears(key, rule)
        }
        guard !isCleared else { return }
        let isSame = { (columns: [String], table: TableShape) in
            zip(columns, key.parentColumns).map { column, parent in
                Dialect.column(column, of: child.reference) + " = "
                    + Dialect.column(parent, of: table.reference)
            }
        }
        let proof =
            proof(child, key) { _, parent in isSame(key.parentColumns, parent) }
            ?? isSame(key.childColumns, child).joined(separator: " AND ")
        let sentence =
            "a row of '\(child.name)' that refers to itself by '\(key.childColumns.last ?? "")'"
            + " cannot be deleted, as the database refuses that; \(clearing(key, of: child))"
        note(key, of: child, sentence, proof: proof, isOfOwnRows: true)
    }

    /// `terms` are about a rule that deletes the row, and that row; `nil` where nothing is known.
    private func proof(
        _ child: TableShape,
        _ key: ForeignKey,
        _ terms: (TableRule, TableShape) -> [String]?
    ) -> String? {
        guard key.childColumns.count == key.parentColumns.count else { return nil }
        let parent = shape(key.parent).named("referred")
        let owners = rules(of: key.parent).filter { $0.action == .delete && $0.hasOwnID }
        let found = owners.compactMap { owner -> String? in
            guard let terms = terms(owner, parent) else { return nil }
            let column = Dialect.column(owner.column, of: parent.reference)
            let conditions = owner.conditions.map { $0.sql(in: parent, Dialect.self) }
            return (["\(column) IS NOT NULL"] + conditions + terms).joined(separator: " AND ")
        }
        guard !found.isEmpty else { return nil }
        let join = zip(key.childColumns, key.parentColumns).map { column, referred in
            Dialect.column(column, of: child.reference) + " = "
                + Dialect.column(referred, of: parent.reference)
        }
        return exists(parent, where: (join + [anyOf(found)]).joined(separator: " AND "))
    }

    // MARK: Circles

    /// The key of the circle to take away first: one that can be cleared, if there is one.
    func circleKey(
        at table: String,
        among rest: [TableRule]
    ) -> (table: TableShape, key: ForeignKey)? {
        let keys = circleKeys(at: table, among: rest)
        let nullable = keys.first { child, key in
            key.childColumns.last.flatMap { Dialect.shape($0, in: child) }?.isNotNull == false
        }
        return nullable ?? keys.first
    }

    /// The keys by which rules that delete wait for each other in the circle of a table.
    func circleKeys(
        at table: String,
        among rest: [TableRule]
    ) -> [(table: TableShape, key: ForeignKey)] {
        var tables: [String] = []
        for rule in rest where rule.action == .delete && !tables.contains(rule.table) {
            tables.append(rule.table)
        }
        let keys = tables.flatMap { parent in
            children(of: parent).filter { child, key in
                child.name != parent && tables.contains(child.name) && key.isDeclared
                    && key.restricts && !key.isReleased
            }
        }
        let reached = { (start: String) in
            var found: Set<String> = []
            var open = [start]
            while let next = open.popLast() {
                guard found.insert(next).inserted else { continue }
                open += keys.filter { $0.table.name == next }.map(\.key.parent)
            }
            return found
        }
        let above = reached(table)
        return keys.filter { child, key in
            above.contains(child.name) && reached(key.parent).contains(table)
        }
    }
}

extension TableRule {
    /// Its column alone holds the id of one user.
    fileprivate var hasOwnID: Bool { via == nil && inside == nil && idTemplate == nil }
}

/// A foreign key that may keep deletions of some users from ever ending.
struct BlockingKey: Sendable {
    /// The table whose rows refer to those of a user.
    let table: String
    let column: String
    /// One sentence, with the rule that mends it.
    let sentence: String
    /// True for a row that stops a deletion, in SQL; `nil` where each row that refers to a user's
    /// does.
    let proof: String?
    /// Its rows stop only their own deletion: where there are none, nothing is said.
    var isOfOwnRows = false

    /// Such as `items.order_id`.
    var name: String { "\(table).\(column)" }
}
