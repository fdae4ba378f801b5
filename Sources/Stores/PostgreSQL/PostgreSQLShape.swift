internal import Lifecycle

/// What the catalogs say about one table.
struct PostgreSQLTable: Sendable {
    let schema: String
    let table: String
    /// How rules, problems and the receipt name it: without the schema when that is the first one.
    let name: String
    /// `pg_class.relkind`: `r` for a table, `p` for one with partitions.
    let kind: String
    let canSelect: Bool
    let canDelete: Bool
    /// Locking rows needs the privilege to update any column (PostgreSQL 15, SELECT).
    let canLock: Bool
    var columns: [PostgreSQLColumn] = []
    var foreignKeys: [ForeignKey] = []
    /// The first columns of the usable (not partial) indexes.
    var indexedColumns: Set<String> = []
    /// Columns that alone form a unique index.
    var uniqueColumns: Set<String> = []
    var primaryKey: Set<String> = []

    func column(_ name: String) -> PostgreSQLColumn? { columns.first { $0.name == name } }

    /// In SQL.
    var reference: String { PostgreSQLDialect.quote(schema) + "." + PostgreSQLDialect.quote(table) }
}

/// One column of a table.
struct PostgreSQLColumn: Sendable {
    let name: String
    /// The type, or what a domain is made of: `int8`, `citext`.
    let type: String
    /// The schema that the type is in.
    let typeSchema: String
    /// Characters that fit; `nil` for no limit.
    let lengthMax: Int?
    let isNotNull: Bool
    let isGenerated: Bool
    /// Equal texts have equal bytes.
    let isDeterministic: Bool
    let canUpdate: Bool

    static let textTypes: Set<String> = ["text", "varchar"]
    static let integerTypes: Set<String> = ["int2", "int4", "int8"]
    static let timeTypes: Set<String> = ["timestamptz", "timestamp", "date"]
    static let numberTypes: Set<String> = integerTypes.union(["numeric", "float8"])
}

/// The SQL of one kind of server.
struct PostgreSQLDialect: SQLDialect {
    /// By ``PostgreSQLTable/name``.
    let tables: [String: PostgreSQLTable]

    func key(_ name: String) -> String { name }

    func quoted(_ identifier: String) -> String { Self.quote(identifier) }

    func reference(_ table: String) -> String { tables[table]?.reference ?? quoted(table) }

    func hasTimestamps(_ creation: CreationColumn, of table: String, as reference: String) -> String
    {
        let type = tables[table]?.column(creation.column)?.type ?? ""
        let column = "\(reference).\(quoted(creation.column))"
        let cutoff = "$2::bigint"
        // A value stands for all of the second or day that it names: a row made at any moment of
        // it, also a later one than the cutoff, has that value.
        switch creation.unit {
        case .unixSeconds:
            return "(coalesce(\(column) > \(cutoff) / 1000.0"
                + " OR (\(column) = floor(\(column)) AND \(column) >= \(cutoff) / 1000), false))"
        case .unixMilliseconds: return "(coalesce(\(column) > \(cutoff), false))"
        case .iso8601: return "true"
        case .timestamp:
            let limit = "('epoch'::timestamptz + \(cutoff) * interval '1 millisecond')"
            let context =
                type == "timestamptz" ? column : "(\(column)::timestamp AT TIME ZONE 'UTC')"
            let isLater =
                type == "date"
                ? "\(column) >= (\(limit) AT TIME ZONE 'UTC')::date"
                : "\(context) > \(limit) OR (\(context) = date_trunc('second', \(context))"
                    + " AND \(context) >= date_trunc('second', \(limit)))"
            return "(coalesce(NOT isfinite(\(column)) OR \(isLater), false))"
        }
    }

    /// True for a time that begins later than the one in the cutoff's place, never null.
    static func isLater(_ creation: CreationColumn, in table: PostgreSQLTable) -> String {
        let column = "\(table.reference).\(quote(creation.column))"
        let time = "('epoch'::timestamptz + $2::bigint * interval '1 millisecond')"
        let isLater =
            switch (creation.unit, table.column(creation.column)?.type) {
            case (.unixSeconds, _): "\(column) > $2::bigint / 1000.0"
            case (.unixMilliseconds, _): "\(column) > $2::bigint"
            case (.iso8601, _): "false"
            case (.timestamp, "timestamptz"): "\(column) > \(time)"
            case (.timestamp, "date"): "\(column) > (\(time) AT TIME ZONE 'UTC')::date"
            case (.timestamp, _): "\(column) > \(time) AT TIME ZONE 'UTC'"
            }
        return "coalesce(\(isLater), false)"
    }

    /// Compares as values of the column's type; texts that may have other equals without regard to
    /// case, since holding too much does less harm.
    func isHeld(_ filter: RowFilter, of table: String, as reference: String) -> String {
        let tests = filter.conditions.map { condition in
            let found = tables[table]?.column(condition.column)
            let column = "\(reference).\(quoted(condition.column))"
            let literals = condition.values.map(Self.literal)
            guard found?.type == "citext" || found?.isDeterministic == false else {
                return "coalesce(\(column) IN (\(literals.joined(separator: ", "))), false)"
            }
            let values = literals.map { "lower(\($0))" }.joined(separator: ", ")
            return "coalesce(lower(\(column)::text) IN (\(values)), false)"
        }
        return "(" + tests.joined(separator: " AND ") + ")"
    }

    /// An identifier (PostgreSQL 15, 4.1.1); names without NUL, which the reader of the
    /// configuration refuses.
    static func quote(_ identifier: String) -> String {
        "\"" + identifier.replacing("\"", with: "\"\"") + "\""
    }

    /// A text, with `standard_conforming_strings` on.
    static func literal(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}
