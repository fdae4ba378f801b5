import Lifecycle

/// What holds on rows protect.
extension ForeignKeyPlanner {
    /// True for a row that stays: a filter fits it, or one fits a row that refers to it and would
    /// go or change with it, over any number of steps; `nil` when nothing is held here.
    func hold(of rule: TableRule, in table: TableShape) -> String? {
        guard rule.action != .keep, !holds.isEmpty else { return nil }
        var terms = held(in: table)
        let above = { (rule: TableRule, table: TableShape) in
            [hold(of: rule, in: table)].compactMap(\.self)
        }
        let here = { (_: TableRule, table: TableShape) in held(in: table) }
        let isCascade = rule.action.parent != nil
        terms += [inherited(by: rule, in: table, where: isCascade ? above : here)]
            .compactMap(\.self)
        if rule.action == .delete {
            let referred = withParents(holds.map(\.table))
            terms += childHolds(of: [table.name], as: table.reference, referred)
        }
        return terms.isEmpty ? nil : "(" + terms.joined(separator: " OR ") + ")"
    }

    /// Each is true for a row that a filter fits.
    func held(in table: TableShape) -> [String] {
        holds.filter { $0.table == table.name }.map { Dialect.isHeld($0, in: table) }
    }

    /// Expressions, any of which keeps a row; the parameters are those of the cutoffs.
    private func childHolds(
        of path: [String],
        as reference: String,
        _ referred: Set<String>
    ) -> [String] {
        var terms: [String] = []
        for (child, key) in children(of: path[path.count - 1])
        where referred.contains(child.name) && !(key.isReleased && path.contains(child.name)) {
            guard !path.contains(child.name), path.count < Self.depthMax,
                key.childColumns.count == key.parentColumns.count
            else {
                // How far a circle leads is not followed: while any row is held, all of these stay.
                terms += holds.map { filter in
                    let held = shape(filter.table).named("held0")
                    return exists(held, where: Dialect.isHeld(filter, in: held))
                }
                continue
            }
            let row = child.named("held\(path.count)")
            let below =
                key.isReleased
                ? [] : childHolds(of: path + [child.name], as: row.reference, referred)
            let inner = held(in: row) + below
            guard !inner.isEmpty else { continue }
            terms.append(refers(row, by: key, to: reference, whereAny: inner))
        }
        return terms
    }
}
