/// What the targets of one store deal with.
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
}
