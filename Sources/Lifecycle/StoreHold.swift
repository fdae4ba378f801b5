/// A legal or operational stop on purging one store, or some rows of it, until it is lifted.
package struct StoreHold: Hashable, Sendable {
    /// What an operator lifts it by; unique.
    package let name: String
    package let store: StoreName
    /// The rows that are left alone; `nil` for everything in the store.
    package let rows: RowFilter?
    /// Why; no personal data, since it is listed.
    package let reason: String?
    package let since: WallTime
    /// Login uid of the operator who placed it.
    package let uid: UInt32

    package init(
        name: String,
        store: StoreName,
        rows: RowFilter? = nil,
        reason: String? = nil,
        since: WallTime,
        uid: UInt32
    ) {
        (self.name, self.store, self.rows) = (name, store, rows)
        (self.reason, self.since, self.uid) = (reason, since, uid)
    }

    package func stops(sameAs other: StoreHold) -> Bool {
        name == other.name && store == other.store && rows == other.rows
    }
}

/// Rows of one table, by the values in their columns.
package struct RowFilter: Hashable, Sendable {
    /// One column and the values that fit.
    package struct Condition: Hashable, Sendable {
        package let column: String
        /// As text, at least one; the store compares them as values of the column.
        package let values: [String]

        package init(column: String, values: [String]) {
            (self.column, self.values) = (column, values)
        }
    }

    /// Named as in the configuration.
    package let table: String
    /// At least one; a row is meant when all of them fit.
    package let conditions: [Condition]

    package init(table: String, conditions: [Condition]) {
        (self.table, self.conditions) = (table, conditions)
    }
}
