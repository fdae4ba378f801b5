/// Conditions that read no value longer than ``SQLLimits/valueBytes``, in a plan for tables that
/// have such values.
extension TableShape {
    /// The expression, or another one where the column has such a value.
    ///
    /// An index that has all that a statement names is read with its values: `coalesce` names all
    /// columns, and reads none.
    func sparing(_ column: String, _ expression: String, else other: String = "0") -> String {
        guard let bytes = byteCount(of: column) else { return expression }
        let columns = columns.prefix(SQLiteLimits.namedColumns)
            .map { SQLiteDialect.column($0.name, of: reference) }.joined(separator: ", ")
        return "CASE WHEN \(bytes) + coalesce(0, \(columns)) <= \(SQLLimits.valueBytes)"
            + " THEN \(expression) ELSE \(other) END"
    }

    /// A condition about what stands inside the column's values; false for such a value that does
    /// not hold it.
    func sparing(
        _ column: String,
        _ inside: InsideValue,
        _ value: String,
        _ found: String
    ) -> String {
        guard let place = place(of: column) else { return found }
        let isJSON = if case .json = inside { 1 } else { 0 }
        let holds = "\(SQLiteDialect.Function.holds)(\(place), \(value), \(isJSON))"
        return sparing(column, found, else: "CASE WHEN \(holds) THEN \(found) ELSE 0 END")
    }

    /// How many bytes a text or blob has; `nil` where long values are not spared.
    func byteCount(of column: String) -> String? {
        place(of: column).map { place in
            "CASE WHEN typeof(\(SQLiteDialect.column(column, of: reference))) IN ('text', 'blob')"
                + " THEN \(SQLiteDialect.Function.bytes)(\(place)) ELSE 0 END"
        }
    }

    /// Where the functions find a value.
    ///
    /// A handle needs a rowid. Beside a virtual column SQLite 3.40 opens it at another column.
    private func place(of column: String) -> String? {
        guard sparesLongValues, hasRowID, !columns.contains(where: \.isGenerated),
            let row = rowKeys.first?.split(separator: ".").last
        else { return nil }
        let names = [name, column].map { SQLiteDialect.literal($0) }.joined(separator: ", ")
        return "\(names), \(reference).\(row)"
    }
}
