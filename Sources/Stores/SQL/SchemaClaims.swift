/// What the stores of one database deal with.
package struct SchemaClaims: Hashable, Sendable {
    package var rules: [TableRule]
    package var keys: [KeyRule]

    package init(rules: [TableRule] = [], keys: [KeyRule] = []) {
        self.rules = rules
        self.keys = keys
    }

    /// Both of them.
    package func joined(with other: SchemaClaims) -> SchemaClaims {
        SchemaClaims(rules: rules + other.rules, keys: keys + other.keys)
    }

    /// The same, with what the rules for parents say about the times of the rows that hang on them.
    func datedByParents() -> SchemaClaims {
        var copy = self
        // As often as a chain may be long.
        for _ in rules where rules.contains(where: { $0.via != nil }) {
            let before = copy.rules
            copy.rules = before.map { rule in
                guard let via = rule.via, !rule.hasTimestamps else { return rule }
                let parents = before.filter {
                    $0.table.lowercased() == via.table.lowercased() && $0.via?.table != $0.table
                }
                var rule = rule
                rule.isDatedByParents = !parents.isEmpty && parents.allSatisfy(\.hasTimestamps)
                return rule
            }
            if copy.rules == before { break }
        }
        return copy
    }
}
