/// Conditions that read no value longer than ``SQLLimits/valueBytes``, in a plan for tables that
/// have such values.
extension SQLiteDialect {
    static func sparing(_ column: String, _ condition: String, in table: TableShape) -> String {
        sparing(column, condition, in: table, else: "0")
    }

    /// The expression, or another one where the column has a value beyond a number of bytes.
    ///
    /// An index that has all that a statement names is read with its values: `coalesce` names all
    /// columns, and reads none.
    static func sparing(
        _ column: String,
        _ expression: String,
        in table: TableShape,
        else other: String,
        beyond bytesMax: Int = SQLLimits.valueBytes
    ) -> String {
        guard let bytes = byteCount(of: column, in: table) else { return expression }
        let columns = table.columns.prefix(SQLiteLimits.namedColumns)
            .map { self.column($0.name, of: table.reference) }.joined(separator: ", ")
        return "CASE WHEN \(bytes) + coalesce(0, \(columns)) <= \(bytesMax)"
            + " THEN \(expression) ELSE \(other) END"
    }

    static func sparing(
        _ column: String,
        _ inside: InsideValue,
        _ value: String,
        _ found: String,
        in table: TableShape
    ) -> String {
        guard let place = place(of: column, in: table) else { return found }
        let (form, wanted) =
            switch inside {
            case .json: (1, value)
            case .text(let before, let after):
                (0, joined([literal(before), value, literal(after)]))
            case .list, .array: (0, value)
            }
        let isBlob = "typeof(\(self.column(column, of: table.reference))) = 'blob'"
        let holds = "\(Function.holds)(\(place), \(wanted), \(form) + 2 * (\(isBlob)))"
        let other = "CASE WHEN \(holds) THEN \(found) ELSE 0 END"
        return sparing(column, found, in: table, else: other, beyond: SQLiteLimits.insideBytes)
    }

    /// How many bytes a text or blob has; `nil` where long values are not spared.
    static func byteCount(of column: String, in table: TableShape) -> String? {
        place(of: column, in: table).map { place in
            "CASE WHEN typeof(\(self.column(column, of: table.reference))) IN ('text', 'blob')"
                + " THEN \(Function.bytes)(\(place)) ELSE 0 END"
        }
    }

    /// Where the functions find a value.
    ///
    /// A handle needs a rowid. Beside a virtual column SQLite 3.40 opens it at another column.
    private static func place(of column: String, in table: TableShape) -> String? {
        guard table.sparesLongValues, table.hasRowID, !table.columns.contains(where: \.isGenerated),
            let row = table.rowKeys.first?.split(separator: ".").last
        else { return nil }
        let names = [table.name, column].map { literal($0) }.joined(separator: ", ")
        return "\(names), \(table.reference).\(row)"
    }
}
