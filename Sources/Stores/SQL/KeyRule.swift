internal import Lifecycle

/// Ids of another store that one user's rows hold.
package struct KeyRule: Hashable, Sendable {
    /// What other targets call the ids.
    package let name: String
    package let table: String
    /// The column that holds the user id.
    package let column: String
    package let idType: IDType
    /// The column that holds the ids.
    package let value: String
    /// How that column stores them.
    package let valueType: IDType
    /// Several users' rows may name one id.
    package let isShared: Bool
    package let creation: CreationColumn?
    /// What else finds the user's rows, as of the rule for the same rows.
    package let via: ParentColumn?
    package let conditions: [ColumnCondition]
    package let idTemplate: IDTemplate?
    package let identifiesUser: Bool

    /// The action of `user` counts for nothing.
    package init(
        name: String,
        user: TableRule,
        value: String,
        valueType: IDType = .text,
        isShared: Bool = false
    ) {
        self.name = name
        table = user.table
        column = user.column
        idType = user.idType
        creation = user.creation
        (via, conditions, idTemplate) = (user.via, user.conditions, user.idTemplate)
        identifiesUser = user.identifiesUser
        self.value = value
        self.valueType = valueType
        self.isShared = isShared
    }

    /// Finds the user's rows.
    var userRule: TableRule {
        var rule = TableRule(
            table: table,
            column: column,
            idType: idType,
            action: .keep,
            creation: creation
        )
        (rule.via, rule.conditions, rule.idTemplate) = (via, conditions, idTemplate)
        rule.identifiesUser = identifiesUser
        return rule
    }

    /// Finds the rows that name an id.
    var valueRule: TableRule {
        TableRule(table: table, column: value, idType: valueType, action: .keep)
    }
}
