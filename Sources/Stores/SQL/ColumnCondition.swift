/// What else must be true of a rule's rows.
package struct ColumnCondition: Hashable, Sendable {
    /// What a column is compared with.
    package enum Value: Hashable, Sendable {
        case text(String)
        case integer(Int64)
    }

    /// How the column must compare.
    package enum Test: Hashable, Sendable {
        case equals(Value)
        case isOneOf([String])
        /// NULL differs from every value.
        case differs(from: Value)
        case isNull(Bool)
    }

    package let column: String
    package let test: Test

    /// An index finds its rows like those of one value, or of a few.
    var isEqual: Bool {
        switch test {
        case .equals, .isOneOf, .isNull(true): true
        case .differs, .isNull(false): false
        }
    }

    /// What the column is compared with, as an operator wrote it.
    var values: [String] {
        switch test {
        case .equals(.text(let text)), .differs(from: .text(let text)): [text]
        case .equals(.integer(let number)), .differs(from: .integer(let number)): ["\(number)"]
        case .isOneOf(let values): values
        case .isNull: []
        }
    }
}

extension ColumnCondition {
    /// True or false, never NULL, and found by an index where there is one; compares as the column
    /// does, like the application, but no row is taken for a value with other accents.
    func sql<Dialect: SQLDialect>(in table: TableShape, _ dialect: Dialect.Type) -> String {
        let name = Dialect.column(column, of: table.reference)
        let isOneOf = { Dialect.isOneOf($0, column, in: table) }
        var isSet = "\(name) IS NOT NULL"
        if let shape = Dialect.shape(column, in: table), shape.foldsAccents {
            let texts = values.map { Dialect.folded(Dialect.literal($0), shape) }
            isSet = "\(Dialect.folded(name, shape)) IN (\(texts.joined(separator: ", ")))"
        }
        switch test {
        case .equals(let value): return "(\(isOneOf([value])) AND \(isSet))"
        case .isOneOf(let values):
            return "(\(isOneOf(values.map { .text($0) })) AND \(isSet))"
        case .differs(let value): return "(NOT \(isOneOf([value])) OR \(name) IS NULL)"
        case .isNull(let isNull): return "\(name) IS \(isNull ? "" : "NOT ")NULL"
        }
    }
}
