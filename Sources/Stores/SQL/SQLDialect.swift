import Lifecycle

/// What the SQL of one kind of database has of its own.
///
/// Each statement has the same parameters: 1 is the user id, 2 a time in Unix milliseconds, 3 a
/// number of rows, 4 an id of another store or the place where a page begins. Those behind it are
/// the other parts of an id of several columns.
///
/// The ``TableShape/reference`` of a table may be an alias, which qualifies each column.
///
/// Conditions are true or false (1 or 0), never NULL.
protocol SQLDialect: InsideDialect {
    /// The statements that change rows of a table.
    associatedtype Work: Sendable

    /// Two spellings of a table or column are the same whatever their ASCII case.
    static var ignoresCase: Bool { get }
    /// Why a table may not be found, behind `does not exist`.
    static var absence: String { get }
    /// What else keeps rows whose time is not plausible.
    static var unreadableTimes: String { get }
    /// Rows after which the count before the work stops.
    static func countLimit(_ rule: TableRule) -> Int?

    static var user: String { get }
    static var time: String { get }
    static var limit: String { get }
    static var key: String { get }
    /// The parameter of another column of a composite id: the fifth and those behind it.
    static func part(_ index: Int) -> String
    static func text(_ expression: String) -> String
    /// Texts, one behind the other.
    static func joined(_ texts: [String]) -> String

    static func literal(_ text: String) -> String

    /// A text of the column in lower case, without blanks at its ends, to be compared by its bytes.
    static func folded(_ text: String, _ column: ColumnShape) -> String

    /// True, or unknown for NULL, where a column holds one of the values; compares as it does.
    static func isOneOf(
        _ values: [ColumnCondition.Value],
        _ column: String,
        in table: TableShape
    ) -> String

    static func quoted(_ identifier: String) -> String

    /// The condition, in a plan that spares long values false for a value of the column that is too
    /// long to fit it.
    static func sparing(_ column: String, _ condition: String, in table: TableShape) -> String

    /// The same for a condition about what stands inside the column's values: false for a long one
    /// that does not hold the value.
    static func sparing(
        _ column: String,
        _ inside: InsideValue,
        _ value: String,
        _ condition: String,
        in table: TableShape
    ) -> String

    /// True for a row that is newer than the time of parameter 2, or has no readable time.
    static func isNewer(_ creation: CreationColumn, in table: TableShape) -> String

    /// True for a readable time that begins later than `time`, in milliseconds.
    static func isLater(
        _ creation: CreationColumn,
        in table: TableShape,
        than time: String
    ) -> String

    /// True for a row without a time.
    static func isUndated(_ creation: CreationColumn, in table: TableShape) -> String

    /// Why a column can never have a value that an operator wrote; `nil` where it may.
    static func problem(ofValue text: String, in column: ColumnShape) -> String?

    /// Why a column cannot be masked so, besides what every database forbids.
    static func problem(
        of strategy: MaskStrategy,
        _ column: ColumnShape,
        in table: TableShape
    ) -> String?

    /// True for a time that is only a day; `nil` when no time of the column is.
    static func isDay(_ creation: CreationColumn, in table: TableShape) -> String?

    /// The order that begins with the newest rows, as far as it costs nothing; else empty.
    static func newestFirst(_ table: TableShape) -> String

    /// True for a row that a filter fits, whose values are written as literals.
    static func isHeld(_ filter: RowFilter, in table: TableShape) -> String

    /// Finds the rows of an id: by index whatever the collation, then byte for byte and by type.
    static func match(_ rule: TableRule, _ table: TableShape, id: String) -> String

    /// Finds them in another way.
    static func check(_ rule: TableRule, _ table: TableShape) -> String

    /// Finds rows that ``match(_:_:id:)`` passes over, though the column or a lenient program takes
    /// their id for equal; `nil` where there can be none.
    static func nonCanonical(_ rule: TableRule, _ table: TableShape) -> String?

    /// Finds rows with the id as it was submitted, as text; `nil` where the match has them all.
    static func literal(_ rule: TableRule, _ table: TableShape) -> String?

    /// A value that is an id of another store, as the connection reads it.
    static func idText(_ column: String, _ type: IDType) -> String

    /// Pages of a table's user ids: the place, the id, and whether it is of the rule's type.
    static func pages(_ rule: TableRule, _ table: TableShape) -> (first: String, next: String)

    /// How a column is masked, and how a masked one is recognised.
    ///
    /// `computed` gets masks whose values the service has to compute.
    static func mask(
        _ mask: ColumnMask,
        in table: TableShape,
        computed: inout [ColumnMask]
    ) -> (value: String, test: String)

    static func work(_ rows: RowConditions) -> Work

    /// All statements of the work, to be tried at the check.
    static func statements(of work: Work) -> [String]
}

extension SQLDialect {
    static func sparing(_ column: String, _ condition: String, in table: TableShape) -> String {
        condition
    }

    static func sparing(
        _ column: String,
        _ inside: InsideValue,
        _ value: String,
        _ condition: String,
        in table: TableShape
    ) -> String { condition }

    static func joined(_ texts: [String]) -> String { texts.joined(separator: " || ") }

    /// As standard SQL does; names without NUL, which the reader of the configuration refuses.
    static func quoted(_ identifier: String) -> String {
        "\"" + identifier.replacing("\"", with: "\"\"") + "\""
    }

    static func isUndated(_ creation: CreationColumn, in table: TableShape) -> String {
        "\(column(creation.column, of: table.reference)) IS NULL"
    }

    static func problem(ofValue text: String, in column: ColumnShape) -> String? { nil }

    static func problem(
        of strategy: MaskStrategy,
        _ column: ColumnShape,
        in table: TableShape
    ) -> String? { nil }

    static func column(_ name: String, of reference: String) -> String {
        "\(reference).\(quoted(name))"
    }

    static func column(_ name: String, in table: TableShape) -> SQLColumn {
        SQLColumn(description: column(name, of: table.reference), shape: shape(name, in: table))
    }

    static func shape(_ name: String, in table: TableShape) -> ColumnShape? {
        table.column(name, ignoringCase: ignoresCase)
    }

    static func folded(_ text: String, _ column: ColumnShape) -> String { "lower(trim(\(text)))" }

    static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || ignoresCase && one.lowercased() == other.lowercased()
    }

    /// A text as a literal, without zero bytes.
    static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    static func isOneOf(
        _ values: [ColumnCondition.Value],
        _ column: String,
        in table: TableShape
    ) -> String {
        let literals = values.map { value in
            switch value {
            case .text(let text): literal(text)
            case .integer(let number): "\(number)"
            }
        }
        let name = self.column(column, of: table.reference)
        return sparing(column, "\(name) IN (\(literals.joined(separator: ", ")))", in: table)
    }

    /// Counts rows up to a limit.
    static func count(
        in table: TableShape,
        where condition: String,
        limit: String = "\(SQLLimits.remainingRows)"
    ) -> String {
        """
        SELECT count(*) FROM (SELECT 1 FROM \(table.reference) WHERE \(condition) LIMIT \(limit)) \
        AS q
        """
    }
}
