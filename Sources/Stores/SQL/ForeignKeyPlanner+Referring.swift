internal import Lifecycle

/// A foreign key that can keep rows of a table from being deleted.
struct ReferringKey {
    /// The table that refers, maybe to rows that would go with the deleted ones.
    let table: String
    let columns: [String]
    /// True for a row that is kept by it.
    let condition: String
}

extension ForeignKeyPlanner {
    /// The keys that can keep a rule's rows from going, those of other tables first.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - table: Its table, spelled as in the schema.
    /// - Returns: None for a rule that deletes nothing.
    func referring(to rule: TableRule, in table: String) -> [ReferringKey] {
        guard rule.action == .delete else { return [] }
        let found = referring(along: [table], as: dialect.reference(table))
        return found.filter { !isSame($0.table, table) } + found.filter { isSame($0.table, table) }
    }

    /// - Parameters:
    ///   - path: Tables from the one that is asked for to the one whose children are looked at.
    ///   - reference: The last of them in SQL.
    /// - Returns: Keys that restrict, also those behind cascades.
    private func referring(along path: [String], as reference: String) -> [ReferringKey] {
        var found: [ReferringKey] = []
        for (child, key) in children(of: path[path.count - 1])
        where key.childColumns.count == key.parentColumns.count {
            let alias = "referring\(path.count)"
            if key.restricts {
                found.append(
                    ReferringKey(
                        table: child.name,
                        columns: key.childColumns,
                        condition: refers(
                            child.name,
                            as: alias,
                            by: key,
                            to: reference,
                            whereAny: ["1"]
                        )
                    )
                )
            }
            let isCircle = path.contains { isSame($0, child.name) } || path.count >= Self.depthMax
            guard key.cascades, !isCircle else { continue }
            found += referring(along: path + [child.name], as: alias).map { inner in
                ReferringKey(
                    table: inner.table,
                    columns: inner.columns,
                    condition: refers(
                        child.name,
                        as: alias,
                        by: key,
                        to: reference,
                        whereAny: [inner.condition]
                    )
                )
            }
        }
        return found
    }
}
