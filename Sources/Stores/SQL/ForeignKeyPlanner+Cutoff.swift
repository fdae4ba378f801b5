internal import Lifecycle

/// What the time cutoff protects.
extension ForeignKeyPlanner {
    /// What protects a row: its own time, or a newer row that refers to it and would go with it.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - table: Its table, spelled as in the schema.
    /// - Returns: An expression, or `nil` when nothing protects.
    func cutoff(of rule: TableRule, in table: String) -> String? {
        var terms: [String] = []
        let reference = dialect.reference(table)
        if let creation = rule.creation {
            terms.append(dialect.hasTimestamps(creation, of: table, as: reference))
        }
        if rule.action == .delete {
            let dated = rules.filter { $0.creation != nil }.map(\.table)
            terms += childCutoffs(of: [table], as: reference, withParents(dated))
        }
        return terms.isEmpty ? nil : "(" + terms.joined(separator: " OR ") + ")"
    }

    /// - Parameters:
    ///   - path: Tables from the one that is asked for to the one whose children are looked at.
    ///   - reference: The last of them in SQL.
    ///   - referred: The only tables worth following.
    /// - Returns: Expressions, any of which protects a row.
    private func childCutoffs(
        of path: [String],
        as reference: String,
        _ referred: Set<String>
    ) -> [String] {
        var terms: [String] = []
        for (child, key) in children(of: path[path.count - 1])
        where (key.cascades || key.restricts) && referred.contains(dialect.key(child.name)) {
            guard key.childColumns.count == key.parentColumns.count else { continue }
            let isSelf = isSame(key.parent, child.name)
            let isCircle = path.contains { isSame($0, child.name) } || path.count >= Self.depthMax
            guard isSelf || !isCircle else { continue }
            // A table that refers to itself is followed one level deep.
            let alias = "newer\(path.count)"
            var inner = isSelf ? [] : childCutoffs(of: path + [child.name], as: alias, referred)
            if let creation = rules(of: child.name).compactMap(\.creation).first {
                inner.append(dialect.hasTimestamps(creation, of: child.name, as: alias))
            }
            guard !inner.isEmpty else { continue }
            terms.append(refers(child.name, as: alias, by: key, to: reference, whereAny: inner))
        }
        return terms
    }
}
