/// The SQL of anonymization.
extension SQLiteDialect {
    /// The SQL functions that a store registers on its connection.
    enum Function {
        static let hash = "expunged_hash"
        static let random = "expunged_random"
        /// Whether a value is such a mask.
        static let isMask = "expunged_is_mask"
        /// A text with each needle replaced; NULL without one.
        static let mention = "expunged_mention"
        /// How long a value is, and whether it may hold a text, without all of it in memory.
        static let bytes = "expunged_bytes"
        static let holds = "expunged_holds"
        /// A text without the escapes of JSON.
        static let unescaped = "expunged_unescaped"
    }

    static func mask(
        _ mask: ColumnMask,
        in table: TableShape,
        computed: inout [ColumnMask]
    ) -> (value: String, test: String) {
        let (value, test) = replacement(mask, in: table)
        return (value: value, test: sparing(mask.column, test, in: table))
    }

    private static func replacement(
        _ mask: ColumnMask,
        in table: TableShape
    ) -> (value: String, test: String) {
        let column = column(mask.column, of: table.reference)
        switch mask.strategy {
        case .null: return (value: "NULL", test: "\(column) IS NULL")
        case .text(let text):
            return (value: constant(text), test: "\(column) IS \(constant(text))")
        case .integer(let number): return (value: "\(number)", test: "\(column) IS \(number)")
        case .hash:
            // The label keeps equal values of two columns apart.
            let label = constant("\(table.name).\(mask.column)")
            return (value: "\(Function.hash)(\(column), \(label))", test: isMask(column))
        case .random:
            let isThere = "iif(typeof(\(column)) = 'null', NULL, 1)"
            return (value: "\(Function.random)(\(isThere))", test: isMask(column))
        case .truncate(let length): return cut(column, at: length)
        // Only of a part, which the check sees to.
        case .remove: return (value: column, test: "1")
        }
    }

    /// A text of any characters, also in a database in UTF-16; without an affinity.
    private static func constant(_ text: String) -> String {
        let parts = text.split(separator: "\0", omittingEmptySubsequences: false)
        return "(" + parts.map { literal(String($0)) }.joined(separator: " || char(0) || ") + ")"
    }

    /// No zero byte is in a text: length(), substr() and GLOB see nothing behind one
    /// (sqlite.org/nulinstr.html).
    private static func isWhole(_ column: String) -> String { "instr(\(column), char(0)) = 0" }

    private static func isMask(_ column: String) -> String {
        "(\(column) IS NULL OR (typeof(\(column)) = 'text' AND length(\(column)) = "
            + "\(MaskText.length) AND \(isWhole(column)) AND \(Function.isMask)(\(column))))"
    }

    /// A text that was whole ends otherwise, or loses nothing but this end when it is cut.
    private static func cut(_ column: String, at length: Int) -> (value: String, test: String) {
        let end = "'\(MaskText.cut)'"
        let kept =
            "iif(typeof(\(column)) = 'text' AND length(\(column)) > \(length),"
            + " substr(\(column), 1, \(length)), '')"
        return (
            value: "CASE WHEN \(column) IS NOT NULL THEN \(kept) || \(end) END",
            test: "(\(column) IS NULL OR (typeof(\(column)) = 'text' AND \(isWhole(column))"
                + " AND (\(column) COLLATE BINARY IN ('', \(end))"
                + " OR (length(\(column)) = \(length + 1) AND substr(\(column), -1) = \(end)))))"
        )
    }
}
