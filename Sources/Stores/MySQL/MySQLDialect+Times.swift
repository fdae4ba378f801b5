import Lifecycle

/// What a row's time says.
extension MySQLDialect {
    /// A value stands for all of the second or day that it names: a row made at any moment of it,
    /// also a later one than the cutoff, has that value.
    ///
    /// A day or month of zero can be any.
    static func isNewer(_ creation: CreationColumn, in table: TableShape) -> String {
        let column = column(creation.column, of: table.reference)
        switch creation.unit {
        case .unixSeconds:
            return "COALESCE(\(column) > \(time) / 1000"
                + " OR (\(column) = FLOOR(\(column)) AND \(column) >= \(time) DIV 1000), FALSE)"
        case .unixMilliseconds: return "COALESCE(\(column) > \(time), FALSE)"
        case .iso8601: return "TRUE"
        case .timestamp:
            let isLater =
                shape(creation.column, in: table)?.type == "date"
                ? "\(moment(column)) >= \(time) DIV 86400000 * 86400000000"
                : "\(moment(column)) > \(time) * 1000 OR (MICROSECOND(\(column)) = 0"
                    + " AND \(moment(column)) >= \(time) DIV 1000 * 1000000)"
            let isVague =
                "YEAR(\(column)) > 0 AND (MONTH(\(column)) = 0 OR DAYOFMONTH(\(column)) = 0)"
            return "(COALESCE(\(isLater), FALSE) OR COALESCE(\(isVague), FALSE))"
        }
    }

    static func isLater(
        _ creation: CreationColumn,
        in table: TableShape,
        than time: String
    ) -> String {
        let column = column(creation.column, of: table.reference)
        let isLater =
            switch creation.unit {
            case .unixSeconds: "\(column) > \(time) / 1000"
            case .unixMilliseconds: "\(column) > \(time)"
            case .iso8601: "FALSE"
            case .timestamp:
                shape(creation.column, in: table)?.type == "date"
                    ? "\(moment(column)) > \(time) DIV 86400000 * 86400000000"
                    : "\(moment(column)) > \(time) * 1000"
            }
        return "COALESCE(\(isLater), FALSE)"
    }

    /// NULL, and the zero that servers wrote instead of it.
    static func isUndated(_ creation: CreationColumn, in table: TableShape) -> String {
        let column = column(creation.column, of: table.reference)
        guard creation.unit == .timestamp else { return "\(column) IS NULL" }
        return "(\(column) IS NULL OR COALESCE(YEAR(\(column)) = 0, FALSE))"
    }

    /// In microseconds, NULL for a date that is none; the session's zone is UTC.
    private static func moment(_ column: String) -> String {
        "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', \(column))"
    }

    static func isDay(_ creation: CreationColumn, in table: TableShape) -> String? {
        shape(creation.column, in: table)?.type == "date" ? "TRUE" : nil
    }

    static func newestFirst(_ table: TableShape) -> String { "" }
}
