import Lifecycle

/// Rows that a rule's rows refer to, and that go with the last row that does.
///
/// The keys of a chunk's rows are read before these go; what nothing refers to afterwards is
/// deleted in the same transaction, so that no interruption loses the way there.
struct ReleasePlan: Sendable {
    /// The rule about them.
    let rule: TableRule
    /// The keys, as columns of the rows that refer to them.
    let key: String
    /// Deletes the row of parameter 4, unless something refers to it.
    let deleteSQL: String

    init<Dialect: SQLDialect>(
        _ rule: TableRule,
        from owner: TableShape,
        _ planner: ForeignKeyPlanner<Dialect>
    ) {
        let table = planner.shape(rule.table)
        self.rule = rule
        let types = Dialect.shape(rule.column, in: table)?.idTypes ?? []
        let type =
            types.contains(.mixed)
            ? .mixed : [IDType.integer, .uuid, .blob].first(where: types.contains) ?? .text
        key = Dialect.idText(Dialect.column(rule.via?.column ?? "", of: owner.reference), type)
        let named = TableRule(table: rule.table, column: rule.column, idType: type, action: .keep)
        var terms = [Dialect.match(named, table, id: Dialect.key)]
        terms += rule.conditions.map { $0.sql(in: table, Dialect.self) }
        terms += planner.protections(rule, in: table).map { "NOT \($0)" }
        terms += planner.references(to: table)
        deleteSQL = "DELETE FROM \(table.reference) WHERE \(terms.joined(separator: " AND "))"
    }
}

extension ForeignKeyPlanner {
    /// The rule's rows go after those by which they are found, since these refer to them.
    func isReleased(_ rule: TableRule) -> Bool {
        guard let via = rule.via, rule.inside == nil, rule.action == .delete,
            via.table != rule.table
        else {
            return false
        }
        return shape(via.table).foreignKeys.contains { key in
            key.parent == rule.table && key.restricts && key.childColumns.count == 1
                && Dialect.isSame(key.childColumns[0], via.column)
                && Dialect.isSame(key.parentColumns.first ?? "", rule.column)
        }
    }

    /// The rules whose rows go with the last of a rule's.
    func released(by rule: TableRule) -> [TableRule] {
        guard rule.action == .delete else { return [] }
        return rules.filter { released in
            released.via?.table == rule.table && isReleased(released)
                && followed(rule.table).contains(rule)
        }
    }

    /// Each is true for a row to which no row refers by a key, but for those of one table.
    func references(to table: TableShape, besides owner: String? = nil) -> [String] {
        children(of: table.name).filter { $0.key.isDeclared && $0.table.name != owner }
            .map { "NOT \(refers($0.table.named("ref"), by: $0.key, to: table.reference))" }
    }
}
