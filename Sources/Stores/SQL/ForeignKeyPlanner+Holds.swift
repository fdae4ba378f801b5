internal import Lifecycle

/// What holds on rows protect.
extension ForeignKeyPlanner {
    /// Deeper than any schema that is worked with by hand; beyond it everything stays.
    static var depthMax: Int { 16 }

    /// When a row stays: a filter fits it, or one fits a row that refers to it and would go or
    /// change with it, over any number of steps.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - table: Its table, spelled as in the schema.
    ///   - filters: The rows that are held, in any table.
    /// - Returns: An expression that is never `NULL`, or `nil` when nothing is held here.
    func hold(of rule: TableRule, in table: String, filters: [RowFilter]) -> String? {
        guard rule.action != .keep, !filters.isEmpty else { return nil }
        let reference = dialect.reference(table)
        var terms = own(filters, of: table, as: reference)
        if rule.action == .delete {
            let referred = withParents(filters.map(\.table))
            terms += childHolds(of: [table], as: reference, filters, referred)
        }
        return terms.isEmpty ? nil : "(" + terms.joined(separator: " OR ") + ")"
    }

    private func own(
        _ filters: [RowFilter],
        of table: String,
        as reference: String
    ) -> [String] {
        filters.filter { isSame($0.table, table) }
            .map { dialect.isHeld($0, of: table, as: reference) }
    }

    /// - Parameters:
    ///   - path: Tables from the one that is asked for to the one whose children are looked at.
    ///   - reference: The last of them in SQL.
    ///   - filters: The rows that are held.
    ///   - referred: The only tables worth following.
    /// - Returns: Expressions, any of which keeps a row.
    private func childHolds(
        of path: [String],
        as reference: String,
        _ filters: [RowFilter],
        _ referred: Set<String>
    ) -> [String] {
        var terms: [String] = []
        for (child, key) in children(of: path[path.count - 1])
        where referred.contains(dialect.key(child.name)) {
            guard !path.contains(where: { isSame($0, child.name) }), path.count < Self.depthMax,
                key.childColumns.count == key.parentColumns.count
            else {
                // How far a circle leads is not followed: while any row is held, all of these stay.
                terms += anyHeld(filters)
                continue
            }
            let alias = "held\(path.count)"
            let inner =
                own(filters, of: child.name, as: alias)
                + childHolds(of: path + [child.name], as: alias, filters, referred)
            guard !inner.isEmpty else { continue }
            terms.append(refers(child.name, as: alias, by: key, to: reference, whereAny: inner))
        }
        return terms
    }

    private func anyHeld(_ filters: [RowFilter]) -> [String] {
        filters.map { filter in
            "EXISTS (SELECT 1 FROM \(dialect.reference(filter.table)) AS held0 WHERE "
                + dialect.isHeld(filter, of: filter.table, as: "held0") + ")"
        }
    }
}
