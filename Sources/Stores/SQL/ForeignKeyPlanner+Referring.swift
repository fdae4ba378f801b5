import Lifecycle

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
    func referring(to rule: TableRule, in table: TableShape) -> [ReferringKey] {
        guard rule.action == .delete else { return [] }
        let found = referring(along: [table.name], as: table.reference)
        return found.filter { $0.table != table.name } + found.filter { $0.table == table.name }
    }

    /// Keys that restrict, also those behind cascades; the parameters are those of the cutoffs.
    private func referring(along path: [String], as reference: String) -> [ReferringKey] {
        var found: [ReferringKey] = []
        for (child, key) in children(of: path[path.count - 1])
        where key.childColumns.count == key.parentColumns.count {
            let row = child.named("referring\(path.count)")
            if key.restricts {
                found.append(
                    ReferringKey(
                        table: child.name,
                        columns: key.childColumns,
                        condition: refers(row, by: key, to: reference)
                    )
                )
            }
            let isCircle = path.contains(child.name) || path.count >= Self.depthMax
            guard key.cascades, !isCircle else { continue }
            found += referring(along: path + [child.name], as: row.reference).map { inner in
                ReferringKey(
                    table: inner.table,
                    columns: inner.columns,
                    condition: refers(row, by: key, to: reference, whereAny: [inner.condition])
                )
            }
        }
        return found
    }
}
