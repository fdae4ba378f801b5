internal import Lifecycle

/// Ids of another store that one user's rows hold.
package struct KeyRule: Hashable, Sendable {
    /// What other stores call the ids.
    package let name: String
    /// Finds the user's rows.
    package private(set) var userRule: TableRule
    /// The column that holds the ids.
    package let value: String
    /// How that column stores them.
    package let valueType: IDType
    /// Several users' rows may name one id.
    package let isShared: Bool

    /// The action of `user` counts for nothing.
    package init(
        name: String,
        user: TableRule,
        value: String,
        valueType: IDType = .text,
        isShared: Bool = false
    ) {
        (self.name, self.value, self.valueType) = (name, value, valueType)
        (userRule, self.isShared) = (user.kept, isShared)
    }

    package var table: String { userRule.table }
    package var creation: CreationColumn? { userRule.creation }

    /// The same key, with tables named otherwise.
    func named(_ name: (String) -> String) -> KeyRule {
        var copy = self
        copy.userRule = userRule.named(name)
        return copy
    }

    /// Finds the rows that name an id.
    var valueRule: TableRule {
        TableRule(table: table, column: value, idType: valueType, action: .keep)
    }
}
