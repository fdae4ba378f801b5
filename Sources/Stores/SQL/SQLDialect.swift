internal import Lifecycle

/// What the SQL of a plan has of its own in each kind of database.
protocol SQLDialect {
    /// By what two spellings of a table's or column's name are the same.
    func key(_ name: String) -> String
    /// An identifier in SQL.
    func quoted(_ identifier: String) -> String
    /// A table in SQL, named as in its shape.
    func reference(_ table: String) -> String
    /// 1 or true for a row that is newer than the order's cutoff or of no readable time, never
    /// null.
    ///
    /// - Parameters:
    ///   - creation: The column that tells.
    ///   - table: The table, named as in its shape.
    ///   - reference: The table or its alias in SQL.
    /// - Returns: An expression.
    func hasTimestamps(_ creation: CreationColumn, of table: String, as reference: String) -> String

    /// 1 or true for a row that a filter fits, never null.
    ///
    /// - Parameters:
    ///   - filter: Whose values are written into the SQL as literals.
    ///   - table: The table, named as in its shape.
    ///   - reference: The table or its alias in SQL.
    /// - Returns: An expression.
    func isHeld(_ filter: RowFilter, of table: String, as reference: String) -> String
}
