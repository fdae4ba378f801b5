import Lifecycle

/// What a rule's column refers to, and whether it tells one user from the others.
extension SQLPlanMaker {
    mutating func checkVia(_ rule: TableRule, _ via: ParentColumn, _ shape: TableShape) {
        let place = "via \"\(via.table).\(via.column)\" of table '\(shape.name)'"
        guard let parent = schema.table(via.table) else {
            found.refuse("\(place): there is no table '\(via.table)'")
            return
        }
        guard let column = column(via.column, of: parent) else { return }
        let planner = ForeignKeyPlanner<Dialect>(schema, rules: rules, holds: [])
        if planner.followed(parent.name).isEmpty {
            let count = planner.rules(of: parent.name).count { $0.via?.table != parent.name }
            found.refuse(
                count == 0
                    ? "\(place): table '\(parent.name)' has no rule that finds a user's rows"
                    : "\(place): table '\(parent.name)' has \(count) rules, none of which deletes,"
                        + " so that it is unclear which one it follows"
            )
            return
        }
        guard !isCircular(rule, planner) else {
            found.refuse("\(place) leads in a circle")
            return
        }
        let roots = planner.roots(of: rule)
        if Set(roots.map(\.idType)).count > 1 || Set(roots.map(\.idTemplate)).count > 1 {
            found.refuse("\(place) leads to rules with different id_type or id_template")
        }
        if !planner.isReleased(rule), let key = key(holding: rule, by: parent, column) {
            found.refuse(
                "\(place): rows of '\(parent.name)' refer to '\(shape.name)' by '\(column.name)'"
                    + " and would stop the deletion\(key.refusal); ON DELETE"
                    + "\(key.cannotSetNull ? "" : " SET NULL or") CASCADE of that key lets"
                    + " '\(shape.name)' go first"
            )
        }
        checkParent(rule, column, parent, place, planner)
    }

    /// The key by which rows that go refer to those of a rule, which are found by them.
    private func key(
        holding rule: TableRule,
        by parent: TableShape,
        _ column: ColumnShape
    ) -> ForeignKey? {
        guard rule.action == .delete, parent.name != rule.table else { return nil }
        return parent.foreignKeys.first { key in
            key.parent == rule.table && key.restricts
                && key.childColumns.contains { Dialect.isSame($0, column.name) }
        }
    }

    private mutating func checkParent(
        _ rule: TableRule,
        _ column: ColumnShape,
        _ parent: TableShape,
        _ place: String,
        _ planner: ForeignKeyPlanner<Dialect>
    ) {
        let names = planner.joined(rule).map(\.parent)
        guard rule.inside == nil else {
            if !parent.isUnique(names) {
                found.refuse(
                    "\(place): '\(column.name)' is not unique, so what stands inside"
                        + " '\(rule.column)' may be another user's"
                )
            }
            return
        }
        if !parent.isUnique(names) {
            if let key = schema.composite(column.name, in: parent, given: names) {
                found.refuse(
                    "\(place): '\(column.name)' is one of the columns (\(key)) of a key of"
                        + " '\(parent.name)' and identifies no row; a foreign key of all of them is"
                        + " followed"
                )
            } else if !parent.isIndexed(column.name) {
                let statement = parent.index(on: column.name, Dialect.self)
                found.advise(
                    "\(place): '\(column.name)' has no index, so every purge reads the whole table"
                        + " to find other owners; \(statement) mends that"
                )
            }
        }
        let isDeclared = schema.table(rule.table)?.foreignKeys.contains { key in
            key.parent == parent.name
                && key.childColumns.contains { Dialect.isSame($0, rule.column) }
        }
        if isDeclared != true, parent.isUnique(names) {
            found.advise(
                "\(place) has no foreign key: a row that the application adds while the row that it"
                    + " refers to is purged stays, and no check finds it"
            )
        }
    }

    private func isCircular(_ rule: TableRule, _ planner: ForeignKeyPlanner<Dialect>) -> Bool {
        var open = planner.followed(rule.via?.table ?? "")
        var seen: Set<TableRule> = []
        while let next = open.popLast() {
            if next == rule { return true }
            guard seen.insert(next).inserted, let via = next.via else { continue }
            open += planner.followed(via.table)
        }
        return false
    }

    // MARK: One user

    /// Refuses a column that other users' rows can have the same value in.
    mutating func checkIdentity(_ rule: TableRule, _ column: ColumnShape, _ shape: TableShape) {
        guard !rule.identifiesUser, rule.via == nil, !shape.isUnique([column.name]) else { return }
        let given =
            [column.name] + rule.conditions.map(\.column) + rule.otherParts.map(\.column)
        guard let fact = schema.ambiguity(column.name, in: shape, given: given) else { return }
        found.refuse(
            "column '\(column.name)' of table '\(shape.name)' \(fact): other users can have the"
                + " same value; complete the rule by id_template or where, or set"
                + " identifies_user = true"
        )
    }
}

extension SQLSchema {
    /// Why rows of other users can have the same value in a column; `nil` where it is one user's.
    ///
    /// `given` is what a rule names besides, the column included.
    func ambiguity(_ name: String, in shape: TableShape, given: [String]) -> String? {
        let all = Set(given.map { $0.lowercased() })
        let isGiven = { (other: String) in all.contains(other.lowercased()) }
        let keys = shape.foreignKeys.filter { key in
            key.childColumns.contains { $0.lowercased() == name.lowercased() }
        }
        if let key = keys.first(where: { $0.childColumns.count > 1 }),
            !keys.contains(where: { $0.childColumns.count == 1 }),
            !key.childColumns.allSatisfy(isGiven)
        {
            return "is one of the columns (\(key.childColumns.joined(separator: ", "))) that refer"
                + " to '\(key.parent)'"
        }
        if let key = composite(name, in: shape, given: given) {
            return "is one of the columns (\(key)) of a key"
        }
        guard keys.isEmpty, let type = shape.typeColumn(of: name), !isGiven(type) else {
            return nil
        }
        return "refers to the table that '\(type)' names"
    }

    /// The columns of a key of which this is one, when it says nothing by itself.
    func composite(_ name: String, in shape: TableShape, given: [String]) -> String? {
        let all = Set(given.map { $0.lowercased() })
        let isGiven = { (other: String) in all.contains(other.lowercased()) }
        let key = shape.uniqueKeys.first { key in
            guard key.count > 1, key.contains(where: { $0.lowercased() == name.lowercased() }),
                !key.allSatisfy(isGiven)
            else { return false }
            return PersonalNames.plain.contains(PersonalNames.canonical(name))
                || isReferred(key, in: shape)
        }
        return key?.joined(separator: ", ")
    }

    /// Another table refers to all of its columns.
    private func isReferred(_ key: [String], in shape: TableShape) -> Bool {
        tables.contains { table in
            table.foreignKeys.contains { foreign in
                foreign.parent == shape.name && foreign.parentColumns.count == key.count
                    && key.allSatisfy { column in
                        foreign.parentColumns.contains { $0.lowercased() == column.lowercased() }
                    }
            }
        }
    }
}

extension TableShape {
    /// The column that says to which table an id refers: `taggable_type`, `content_type_id`.
    func typeColumn(of name: String) -> String? {
        let canonical = PersonalNames.canonical(name)
        var types: Set<String> = []
        for end in ["id", "uuid", "pk"] where canonical.hasSuffix(end) && canonical != end {
            types.insert(canonical.dropLast(end.count) + "type")
        }
        if canonical == "typeid" { types.insert("type") }
        if ["objectid", "objectpk"].contains(canonical) {
            types.formUnion(["contenttype", "contenttypeid"])
        }
        return columns.first { types.contains(PersonalNames.canonical($0.name)) }?.name
    }
}
