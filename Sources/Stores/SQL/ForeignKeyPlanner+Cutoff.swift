import Lifecycle

/// What the time cutoff protects.
extension ForeignKeyPlanner {
    /// What protects a row: its own time, or a newer row that refers to it and would go with it;
    /// `nil` when nothing does.
    func cutoff(of rule: TableRule, in table: TableShape) -> String? {
        var terms: [String] = []
        if let creation = rule.creation {
            terms.append(Dialect.isNewer(creation, in: table))
        }
        let above = { (rule: TableRule, table: TableShape) in
            [cutoff(of: rule, in: table)].compactMap(\.self)
        }
        let isCascade = rule.action.parent != nil
        terms += [inherited(by: rule, in: table, where: isCascade ? above : newer)]
            .compactMap(\.self)
        terms += [keptBelow(rule, in: table, newer)].compactMap(\.self)
        if rule.action == .delete {
            let dated = rules.filter { $0.creation != nil }.map(\.table)
            terms += childCutoffs(of: [table.name], as: table.reference, withParents(dated))
        }
        return terms.isEmpty ? nil : "(" + terms.joined(separator: " OR ") + ")"
    }

    /// Expressions, any of which protects a row.
    ///
    /// `path` leads from the rule's table to the one whose children are followed, `reference` is
    /// the last of them in SQL, and only `referred` tables are worth following.
    private func childCutoffs(
        of path: [String],
        as reference: String,
        _ referred: Set<String>
    ) -> [String] {
        var terms: [String] = []
        for (child, key) in children(of: path[path.count - 1])
        where (key.cascades || key.restricts || key.isFollowed) && referred.contains(child.name) {
            guard key.childColumns.count == key.parentColumns.count else { continue }
            let isSelf = key.parent == child.name
            guard isSelf || !path.contains(child.name) && path.count < Self.depthMax else {
                continue
            }
            // A table that refers to itself is followed one level deep.
            let row = child.named("newer\(path.count)")
            var inner =
                isSelf ? [] : childCutoffs(of: path + [child.name], as: row.reference, referred)
            if let creation = rules(of: child.name).compactMap(\.creation).first {
                inner.append(Dialect.isNewer(creation, in: row))
            }
            guard !inner.isEmpty else { continue }
            terms.append(refers(row, by: key, to: reference, whereAny: inner))
        }
        return terms
    }
}
