import Lifecycle

/// The SQL of PostgreSQL; parameters are texts.
enum PostgreSQLDialect: SQLDialect {
    static var ignoresCase: Bool { false }
    static var absence: String { ", or its schema is not listed" }
    static var unreadableTimes: String { "" }

    static func countLimit(_ rule: TableRule) -> Int? { PostgreSQLLimits.countRows + 1 }

    static var user: String { "$1" }
    static var time: String { "$2::bigint" }
    static var limit: String { "$3::bigint" }
    static var key: String { "$4" }

    static func part(_ index: Int) -> String { "$\(5 + index)" }

    static func text(_ expression: String) -> String { "CAST(\(expression) AS text)" }

    // MARK: Times

    /// A value stands for all of the second or day that it names: a row made at any moment of it,
    /// also a later one than the cutoff, has that value.
    static func isNewer(_ creation: CreationColumn, in table: TableShape) -> String {
        let type = shape(creation.column, in: table)?.type
        let column = column(creation.column, of: table.reference)
        switch creation.unit {
        case .unixSeconds:
            return "(coalesce(\(column) > \(time) / 1000.0"
                + " OR (\(column) = floor(\(column)) AND \(column) >= \(time) / 1000), false))"
        case .unixMilliseconds: return "(coalesce(\(column) > \(time), false))"
        case .iso8601: return "true"
        case .timestamp:
            let limit = moment(time)
            let value =
                type == "timestamptz" ? column : "(\(column)::timestamp AT TIME ZONE 'UTC')"
            let isLater =
                type == "date"
                ? "\(column) >= (\(limit) AT TIME ZONE 'UTC')::date"
                : "\(value) > \(limit) OR (\(value) = date_trunc('second', \(value))"
                    + " AND \(value) >= date_trunc('second', \(limit)))"
            return "(coalesce(\(isLater), false))"
        }
    }

    static func isLater(
        _ creation: CreationColumn,
        in table: TableShape,
        than time: String
    ) -> String {
        let column = column(creation.column, of: table.reference)
        let isLater =
            switch (creation.unit, shape(creation.column, in: table)?.type) {
            case (.unixSeconds, _): "\(column) > \(time) / 1000.0"
            case (.unixMilliseconds, _): "\(column) > \(time)"
            case (.iso8601, _): "false"
            case (.timestamp, "timestamptz"): "\(column) > \(moment(time))"
            case (.timestamp, "date"): "\(column) > (\(moment(time)) AT TIME ZONE 'UTC')::date"
            case (.timestamp, _): "\(column) > \(moment(time)) AT TIME ZONE 'UTC'"
            }
        return "coalesce(\(isLater), false)"
    }

    private static func moment(_ time: String) -> String {
        "('epoch'::timestamptz + \(time) * interval '1 millisecond')"
    }

    static func isDay(_ creation: CreationColumn, in table: TableShape) -> String? {
        shape(creation.column, in: table)?.type == "date" ? "true" : nil
    }

    static func newestFirst(_ table: TableShape) -> String { "" }

    // MARK: Ids

    /// Compares as values of the column's type; texts that may have other equals without regard to
    /// case, since holding too much does less harm.
    static func isHeld(_ filter: RowFilter, in table: TableShape) -> String {
        let tests = filter.conditions.map { condition in
            let column = column(condition.column, of: table.reference)
            let literals = condition.values.map { literal($0) }
            guard shape(condition.column, in: table)?.isExact == false else {
                return "coalesce(\(column) IN (\(literals.joined(separator: ", "))), false)"
            }
            let values = literals.map { "lower(\($0))" }.joined(separator: ", ")
            return "coalesce(lower(\(column)::text) IN (\(values)), false)"
        }
        return "(" + tests.joined(separator: " AND ") + ")"
    }

    /// An id's parameter as a value of the column.
    private static func value(_ id: String, _ type: IDType) -> String {
        switch type {
        case .integer: "\(id)::bigint"
        case .uuid: "\(id)::uuid"
        case .blob: "decode(\(id), 'hex')"
        case .text, .mixed: id
        }
    }

    /// Texts that the column takes for equal are different ids.
    private static func bytes(_ column: String) -> String {
        "\(column)::text COLLATE pg_catalog.\"C\""
    }

    /// Where equal texts have equal bytes, an index on `lower(trim(column))` serves it.
    static func folded(_ text: String, _ column: ColumnShape) -> String {
        let collation = column.isExact ? "" : " COLLATE pg_catalog.\"default\""
        return "lower(btrim(\(text)::text\(collation)))"
    }

    static func match(_ rule: TableRule, _ table: TableShape, id: String) -> String {
        let column = column(rule.column, of: table.reference)
        guard rule.idType == .text, let found = shape(rule.column, in: table), !found.isExact
        else { return "\(column) = \(value(id, rule.idType))" }
        return "\(isEqual(column, found, id)) AND \(bytes(column)) = \(id)"
    }

    static func nonCanonical(_ rule: TableRule, _ table: TableShape) -> String? {
        guard rule.idType == .text, let found = shape(rule.column, in: table), !found.isExact
        else { return nil }
        let column = column(rule.column, of: table.reference)
        return "\(isEqual(column, found, user)) AND \(bytes(column)) <> \(user)"
    }

    /// Rows that hold the characters of the id as bytes.
    static func literal(_ rule: TableRule, _ table: TableShape) -> String? {
        guard rule.idType == .blob else { return nil }
        return "\(column(rule.column, of: table.reference)) = convert_to(\(user), 'UTF8')"
    }

    /// As the column compares.
    private static func isEqual(_ column: String, _ found: ColumnShape, _ id: String) -> String {
        if found.type == "bpchar" { return "\(column) = \(id)::bpchar" }
        guard found.type == "citext" else { return "\(column) = \(id)" }
        // Its operator is not in the search path, and without it no index would be used.
        let schema = quoted(found.typeSchema)
        return "\(column) OPERATOR(\(schema).=) \(id)::\(schema).citext"
    }

    /// Candidates through a list, then by their text.
    static func check(_ rule: TableRule, _ table: TableShape) -> String {
        let column = column(rule.column, of: table.reference)
        let candidates = "\(column) = ANY (ARRAY[\(value(user, rule.idType))])"
        switch rule.idType {
        case .integer where isNumeric(rule, table):
            return "\(candidates) AND trunc(\(column))::text = \(user)"
        case .integer, .uuid: return "\(candidates) AND \(column)::text = \(user)"
        case .blob: return "\(candidates) AND encode(\(column), 'hex') = \(user)"
        case .text:
            let isSame = "convert_to(\(column)::text, 'UTF8') = convert_to(\(user), 'UTF8')"
            let type = shape(rule.column, in: table)?.type ?? ""
            let isOwn = ["citext", "bpchar"].contains(type)
            return "\(isOwn ? match(rule, table, id: user) : candidates) AND \(isSame)"
        case .mixed: return "false"
        }
    }

    private static func isNumeric(_ rule: TableRule, _ table: TableShape) -> Bool {
        shape(rule.column, in: table)?.type == "numeric"
    }

    static func idText(_ column: String, _ type: IDType) -> String {
        switch type {
        case .text, .mixed: bytes(column)
        case .integer, .blob: column
        case .uuid: "\(column)::text"
        }
    }

    /// By the order of the column, so that its index brings each page; a text whose equals may have
    /// other bytes goes by its bytes, which reads the table once for each page.
    static func pages(_ rule: TableRule, _ table: TableShape) -> (first: String, next: String) {
        let column = column(rule.column, of: table.reference)
        let isExact = shape(rule.column, in: table)?.isExact ?? true
        let place = isExact ? column : bytes(column)
        let isText = rule.idType == .uuid || rule.idType == .text
        let isNumeric = isNumeric(rule, table)
        let isLoose = rule.idType == .text || rule.idType == .blob
        let bytes = rule.idType == .blob ? column : "\(column)::text"
        let short = isLoose ? " AND octet_length(\(bytes)) <= \(SQLLimits.idBytes)" : ""
        let key = isText || isNumeric ? "k::text" : "k"
        let id = isNumeric ? "trunc(k)::text" : key
        let sql = { (condition: String) in
            """
            SELECT \(key), \(id), 1 FROM (SELECT DISTINCT \(place) AS k FROM \(table.reference) \
            WHERE \(column) IS NOT NULL\(short)\(condition) \
            ORDER BY k LIMIT \(SQLLimits.pageRows)) AS q ORDER BY k
            """
        }
        let last = isNumeric ? "\(Self.key)::numeric" : value(Self.key, rule.idType)
        return (first: sql(""), next: sql(" AND \(place) > \(last)"))
    }
}
