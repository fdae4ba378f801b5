/// What the `via` of rules leads through, from table to table.
struct ViaChains {
    private let rules: [String: [TableRule]]
    /// What the columns of rules refer to, by their canonical names.
    private let parents: [String: Set<ParentColumn>]

    /// `rules` are by their table in lower case.
    init(_ rules: [String: [TableRule]]) {
        self.rules = rules
        var parents: [String: Set<ParentColumn>] = [:]
        for rule in rules.values.joined() where rule.inside == nil {
            guard let via = rule.via else { continue }
            let name = PersonalNames.canonical(rule.column)
            parents[name, default: []].insert(via.inLowerCase)
        }
        self.parents = parents
    }

    /// Whether a rule of the table finds the rows over the row that `column` refers to.
    ///
    /// The column repeats then what the chain of that rule leads through, such as the order of a
    /// note that is found by the item of the order. A column of a user says who, which another
    /// chain does not; and sampled rows may show that the chain misses some.
    func cover(
        _ column: String,
        _ keys: [ForeignKey],
        _ own: [TableRule],
        _ rows: TableSample?
    ) -> Bool {
        let referred =
            keys.isEmpty
            ? parents[PersonalNames.canonical(column)] ?? []
            : Set(keys.flatMap { $0.parents(of: column) })
        guard !referred.isEmpty, !referred.contains(where: isOfUser) else { return false }
        return own.contains { rule in
            (rule.action == .delete || rule.action == .keep)
                && referred.isSubset(of: chain(from: rule))
                && !(rows?.holds(column, without: rule.column) ?? false)
        }
    }

    private func isOfUser(_ parent: ParentColumn) -> Bool {
        PersonalNames.isTableOfUsers(parent.table)
            || (rules[parent.table] ?? []).contains {
                $0.via == nil && $0.column.lowercased() == parent.column
            }
    }

    /// The columns whose rows lead to the rule's, all of them.
    private func chain(from rule: TableRule) -> Set<ParentColumn> {
        var found: Set<ParentColumn> = []
        var next = [rule]
        while let rule = next.popLast() {
            guard rule.conditions.isEmpty, rule.inside == nil, let via = rule.via?.inLowerCase,
                found.insert(via).inserted
            else { continue }
            next += rules[via.table] ?? []
        }
        return found
    }
}

extension ParentColumn {
    fileprivate var inLowerCase: ParentColumn {
        ParentColumn(table: table.lowercased(), column: column.lowercased())
    }
}

extension ForeignKey {
    /// What a column of the child refers to.
    fileprivate func parents(of column: String) -> [ParentColumn] {
        zip(childColumns, parentColumns)
            .filter { $0.0.lowercased() == column.lowercased() }
            .map { ParentColumn(table: parent.lowercased(), column: $0.1.lowercased()) }
    }
}

extension TableSample {
    /// Whether a sampled row has a value in `column` and none in `owner`.
    fileprivate func holds(_ column: String, without owner: String) -> Bool {
        let index = { (name: String) in
            columns.firstIndex { $0.lowercased() == name.lowercased() }
        }
        guard let place = index(column), let other = index(owner) else { return false }
        return rows.contains { $0[place] != .null && $0[other] == .null }
    }
}
