/// Where a rule's rows hang: a column of another table of the store, or of its own.
package struct ParentColumn: Hashable, Sendable {
    package let table: String
    package let column: String

    package init(table: String, column: String) {
        self.table = table
        self.column = column
    }

    /// Reads `orders.id` or `shop.orders.id`: the last dot parts the column from the table.
    package init?(_ text: String) {
        guard let dot = text.lastIndex(of: ".") else { return nil }
        let column = text[text.index(after: dot)...]
        guard dot > text.startIndex, !column.isEmpty else { return nil }
        self.init(table: String(text[..<dot]), column: String(column))
    }

    /// As a rule names the column that it is about.
    var toml: String { "table = \"\(table)\", column = \"\(column)\"" }
}
