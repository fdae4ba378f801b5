import Lifecycle

/// The SQL of SQLite.
///
/// A row is *newer* (left alone, and reported) unless its creation time shows that it is not newer
/// than the cutoff. A time in the future and a value that is no time keep it, too: such a row may
/// belong to a later life of the account. A row whose time is `NULL` is *undated* and goes: most
/// are older than the column, and the user asked for erasure.
enum SQLiteDialect: SQLDialect {
    static var ignoresCase: Bool { true }
    static var absence: String { "" }
    static var unreadableTimes: String { " or unreadably" }

    static func countLimit(_ rule: TableRule) -> Int? {
        rule.action.changesRows ? SQLLimits.chunkRows + 1 : nil
    }

    static var user: String { "?1" }
    static var time: String { "?2" }
    static var limit: String { "?3" }
    static var key: String { "?4" }

    static func part(_ index: Int) -> String { "?\(5 + index)" }

    static func text(_ expression: String) -> String { "CAST(\(expression) AS TEXT)" }

    // MARK: Times

    static func isNewer(_ creation: CreationColumn, in table: TableShape) -> String {
        let column = column(creation.column, of: table.reference)
        return "(\(column) IS NOT NULL AND NOT (\(isTime(column, creation.unit))"
            + " AND ifnull(NOT \(maybeLater(column, creation.unit)), 0)))"
    }

    static func isLater(
        _ creation: CreationColumn,
        in table: TableShape,
        than time: String
    ) -> String {
        let column = column(creation.column, of: table.reference)
        return "(\(isTime(column, creation.unit))"
            + " AND ifnull(\(isLater(column, creation.unit, than: time)), 0))"
    }

    static func isDay(_ creation: CreationColumn, in table: TableShape) -> String? {
        guard creation.unit == .iso8601 else { return nil }
        let column = column(creation.column, of: table.reference)
        return "(\(isTime(column, .iso8601)) AND \(column) NOT GLOB '*:*')"
    }

    static func newestFirst(_ table: TableShape) -> String {
        table.hasRowID ? " ORDER BY \(table.rowKeys[0]) DESC" : ""
    }

    /// The stored type fits.
    ///
    /// The pattern keeps `now`, a bare clock time and day numbers out of
    /// julianday() (sqlite.org/lang_datefunc.html).
    private static func isTime(_ column: String, _ unit: CreationColumn.Unit) -> String {
        switch unit {
        case .unixSeconds, .unixMilliseconds: "typeof(\(column)) IN ('integer', 'real')"
        case .timestamp: "0"
        case .iso8601:
            "typeof(\(column)) = 'text' AND \(column) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*'"
        }
    }

    /// A value stands for all of the second, minute or day that it names: a row made at any moment
    /// of it, also a later one than the cutoff, has that value.
    private static func maybeLater(_ column: String, _ unit: CreationColumn.Unit) -> String {
        switch unit {
        case .unixSeconds:
            return "(\(isLater(column, unit, than: time))"
                + " OR (\(column) = CAST(\(column) AS INTEGER) AND \(column) >= \(time) / 1000))"
        case .iso8601:
            let seconds = """
                CASE WHEN \(column) GLOB '*.*' THEN 0 \
                WHEN \(column) GLOB '???????????[0-9][0-9]:[0-9][0-9]:*' THEN 1 \
                WHEN \(column) GLOB '*:*' THEN 60 ELSE 86400 END
                """
            return "(julianday(\(column)) + (\(seconds)) / 86400.0"
                + " > 2440587.5 + (\(time) + 0.5) / 86400000.0)"
        case .unixMilliseconds, .timestamp: return isLater(column, unit, than: time)
        }
    }

    private static func isLater(
        _ column: String,
        _ unit: CreationColumn.Unit,
        than time: String
    ) -> String {
        switch unit {
        case .unixSeconds: "(\(column) > \(time) / 1000.0)"
        case .unixMilliseconds: "(\(column) > \(time))"
        case .timestamp: "1"
        // julianday() is exact to the millisecond; half of one absorbs the rounding of doubles.
        case .iso8601: "(julianday(\(column)) > 2440587.5 + (\(time) + 0.5) / 86400000.0)"
        }
    }

    // MARK: Ids

    /// Compares as the column does, and by text, so that neither type nor collation lets a held row
    /// slip through.
    static func isHeld(_ filter: RowFilter, in table: TableShape) -> String {
        let tests = filter.conditions.map { condition in
            let column = column(condition.column, of: table.reference)
            let values = condition.values.map { literal($0) }.joined(separator: ", ")
            let test =
                "ifnull(\(column) IN (\(values)) OR CAST(\(column) AS TEXT) IN (\(values)), 0)"
            return sparing(condition.column, test, in: table)
        }
        return "(" + tests.joined(separator: " AND ") + ")"
    }

    static func match(_ rule: TableRule, _ table: TableShape, id: String) -> String {
        sparing(rule.column, equals(rule, table, id), in: table)
    }

    private static func equals(_ rule: TableRule, _ table: TableShape, _ id: String) -> String {
        let column = column(rule.column, of: table.reference)
        guard rule.idType != .mixed else {
            let number = "CAST(\(id) AS INTEGER)"
            return "(\(column) = \(id) COLLATE BINARY AND typeof(\(column)) = 'text'"
                + " OR \(column) = \(number) AND typeof(\(column)) IN ('integer', 'real')"
                + " AND CAST(\(number) AS TEXT) = \(id))"
        }
        let isExact = shape(rule.column, in: table)?.isExact ?? false
        let exact = isExact || rule.idType != .text ? "" : " AND \(column) = \(id) COLLATE BINARY"
        return "\(column) = \(id) AND \(isTyped(rule, column))\(exact)"
    }

    /// The storage class fits; of numbers both do, since 42.0 equals 42.
    static func isTyped(_ rule: TableRule, _ column: String) -> String {
        switch rule.idType {
        case .integer: "typeof(\(column)) IN ('integer', 'real')"
        case .mixed: "typeof(\(column)) IN ('integer', 'real', 'text')"
        case .text, .blob, .uuid: "typeof(\(column)) = '\(rule.idType.rawValue)'"
        }
    }

    /// Candidates through a subquery, then by their bytes.
    static func check(_ rule: TableRule, _ table: TableShape) -> String {
        let column = column(rule.column, of: table.reference)
        let candidates = "\(column) IN (SELECT \(user))"
        let found =
            switch rule.idType {
            case .text: "\(candidates) AND CAST(\(column) AS BLOB) = CAST(\(user) AS BLOB)"
            case .integer:
                "\(candidates) AND \(isTyped(rule, column))"
                    + " AND CAST(CAST(\(column) AS INTEGER) AS TEXT) = CAST(\(user) AS TEXT)"
            case .blob: "\(candidates) AND hex(\(column)) = hex(\(user))"
            case .mixed:
                "\(column) IN (SELECT \(user) UNION ALL SELECT CAST(\(user) AS INTEGER))"
                    + " AND (CAST(\(column) AS TEXT) = \(user) OR typeof(\(column)) = 'real'"
                    + " AND CAST(CAST(\(column) AS INTEGER) AS TEXT) = \(user))"
            case .uuid: "0"
            }
        return sparing(rule.column, found, in: table)
    }

    /// The SQL function that reads a value as an id.
    static let readingFunction = "expunged_is_read_as"

    /// By ranges of an index: the storage classes sort as NULL, numbers, text, blobs
    /// (sqlite.org/datatype3.html, 4.1).
    static func nonCanonical(_ rule: TableRule, _ table: TableShape) -> String? {
        guard let found = shape(rule.column, in: table) else { return nil }
        let column = column(rule.column, of: table.reference)
        let isRead = "\(readingFunction)(\(column), \(user))"
        var terms: [String] = []
        switch rule.idType {
        case .integer where found.isLoose: terms.append("(\(column) >= '' AND \(isRead))")
        case .blob where found.isLoose: terms.append("(\(column) < x'' AND \(isRead))")
        case .text:
            if found.isLoose { terms.append("(\(column) >= x'' AND \(isRead))") }
            if found.isLoose, found.idTypes.contains(.blob) {
                terms.append("(\(column) < '' AND \(isRead))")
            }
            if !found.isExact {
                terms.append("(\(column) = \(user) AND \(column) <> \(user) COLLATE BINARY)")
            }
        case .mixed:
            terms.append("(\(column) >= x'' AND \(isRead))")
            terms.append(
                "(\(column) < '' AND \(isRead)"
                    + " AND CAST(CAST(\(column) AS INTEGER) AS TEXT) <> \(user))"
            )
        case .integer, .blob, .uuid: break
        }
        guard !terms.isEmpty else { return nil }
        return sparing(rule.column, terms.joined(separator: " OR "), in: table)
    }

    /// Also an id that no column of this type should hold: `abc` in an INTEGER column.
    static func literal(_ rule: TableRule, _ table: TableShape) -> String? {
        guard shape(rule.column, in: table)?.isLoose ?? false else { return nil }
        let column = column(rule.column, of: table.reference)
        let text = "CAST(\(column) AS TEXT) = \(user)"
        let found: String? =
            switch rule.idType {
            case .integer: "\(column) >= '' AND (\(column) = \(user) OR \(text))"
            case .blob:
                "\(column) IN (\(user), CAST(\(user) AS BLOB))"
                    + " OR (\(column) < x'' AND \(text))"
            case .text, .uuid, .mixed: nil
            }
        return found.map { sparing(rule.column, $0, in: table) }
    }

    static func idText(_ column: String, _ type: IDType) -> String { "\(column) COLLATE BINARY" }

    /// By rowid, so that a table without an index on the column is read once; a table without
    /// rowids by the column itself.
    static func pages(_ rule: TableRule, _ table: TableShape) -> (first: String, next: String) {
        let column = column(rule.column, of: table.reference)
        let typed = isTyped(rule, column)
        let value = sparing(rule.column, column, in: table, else: "NULL")
        let place = table.hasRowID ? table.rowKeys[0] : "\(column) COLLATE BINARY"
        let select =
            table.hasRowID
            ? "SELECT \(place), \(value), \(typed) FROM \(table.reference) WHERE "
            : "SELECT DISTINCT \(column), \(column), 1 FROM \(table.reference) WHERE \(typed) AND "
        let order = " ORDER BY \(place) LIMIT \(SQLLimits.pageRows)"
        return (first: select + "1" + order, next: select + "\(place) > \(key)" + order)
    }
}
