/// The SQL of the time cutoff.
///
/// A row is *newer* (left alone, and reported) unless its creation time shows that it is not newer
/// than the order's cutoff. A later time, however far in the future, and a value that is no time of
/// the unit both keep it: such a row may belong to a later life of the account, and a deletion
/// cannot be undone. A row whose time is `NULL` is *undated* and treated as old: most such rows are
/// older than the column, and the user asked for erasure; they are counted apart.
enum CutoffSQL {
    // Each takes the table, or its alias, as it stands in SQL.

    /// 1 for a newer row, else 0, never `NULL`.
    static func hasTimestamps(_ creation: CreationColumn, of reference: String) -> String {
        let column = "\(reference).\(quoted(creation.column))"
        return "(\(column) IS NOT NULL AND NOT (\(isTime(column, creation.unit))"
            + " AND ifnull(NOT \(maybeLater(column, creation.unit)), 0)))"
    }

    /// 1 for a readable time that is only a day, else 0, never `NULL`.
    static func isDay(_ creation: CreationColumn, of reference: String) -> String {
        let column = "\(reference).\(quoted(creation.column))"
        return creation.unit == .iso8601
            ? "(\(isTime(column, .iso8601)) AND \(column) NOT GLOB '*:*')" : "0"
    }

    /// 1 for an undated row, else 0, never `NULL`.
    static func isUndated(_ creation: CreationColumn, of reference: String) -> String {
        "(\(reference).\(quoted(creation.column)) IS NULL)"
    }

    /// 1 for a time between the cutoff's and the horizon's parameter, else 0, never `NULL`.
    static func isPlausible(_ creation: CreationColumn, of reference: String) -> String {
        let column = "\(reference).\(quoted(creation.column))"
        return "(\(isTime(column, creation.unit)) AND ifnull(\(later(column, creation.unit)), 0)"
            + " AND ifnull(\(notBeyond(column, creation.unit)), 0))"
    }

    /// 1 for a readable time behind the horizon's parameter, else 0, never `NULL`.
    static func isBeyond(_ creation: CreationColumn, of reference: String) -> String {
        let column = "\(reference).\(quoted(creation.column))"
        return "(\(isTime(column, creation.unit))"
            + " AND ifnull(NOT (\(notBeyond(column, creation.unit))), 0))"
    }

    /// An identifier in SQL (sqlite.org/lang_keywords.html).
    static func quoted(_ identifier: String) -> String {
        "\""
            + identifier.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\"") + "\""
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
            return "(\(later(column, unit))"
                + " OR (\(column) = CAST(\(column) AS INTEGER) AND \(column) >= ?2 / 1000))"
        case .iso8601:
            let seconds = """
                CASE WHEN \(column) GLOB '*.*' THEN 0 \
                WHEN \(column) GLOB '???????????[0-9][0-9]:[0-9][0-9]:*' THEN 1 \
                WHEN \(column) GLOB '*:*' THEN 60 ELSE 86400 END
                """
            return "(julianday(\(column)) + (\(seconds)) / 86400.0"
                + " > 2440587.5 + (?2 + 0.5) / 86400000.0)"
        case .unixMilliseconds, .timestamp: return later(column, unit)
        }
    }

    private static func later(_ column: String, _ unit: CreationColumn.Unit) -> String {
        switch unit {
        case .unixSeconds: "(\(column) > ?2 / 1000.0)"
        case .unixMilliseconds: "(\(column) > ?2)"
        // julianday() is exact to the millisecond; half of one absorbs the rounding of doubles.
        case .timestamp: "1"
        case .iso8601: "(julianday(\(column)) > 2440587.5 + (?2 + 0.5) / 86400000.0)"
        }
    }

    private static func notBeyond(_ column: String, _ unit: CreationColumn.Unit) -> String {
        switch unit {
        case .unixSeconds: "\(column) <= ?3 / 1000.0"
        case .unixMilliseconds: "\(column) <= ?3"
        case .timestamp: "0"
        case .iso8601: "julianday(\(column)) <= 2440587.5 + (?3 + 0.5) / 86400000.0"
        }
    }
}
