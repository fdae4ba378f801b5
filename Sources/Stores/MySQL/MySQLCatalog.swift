import Lifecycle

/// Reads the application's tables from `information_schema`, by four statements.
///
/// It shows what the user has any privilege on, and nothing else.
struct MySQLCatalog {
    let session: MySQLSession

    private var database: String { session.configuration.database }

    func read() throws(SQLError) -> SQLSchema {
        var found: [String: TableShape] = [:]
        for row in try rows(Self.tableSQL) {
            let (schema, table) = (row[0], row[1])
            let name = schema == database ? table : "\(schema).\(table)"
            let place = [schema, table].map(MySQLDialect.quoted).joined(separator: ".")
            var shape = TableShape(name: name, reference: place)
            shape.problem = Self.problem(name, type: row[2], engine: row[3])
            shape.holdsRows = Self.tableTypes.contains(row[2])
            shape.isOwn = schema == database
            shape.grantee = "\(place) TO \(row[4])"
            found["\(schema).\(table)"] = shape
        }
        try readColumns(&found)
        try readKeys(&found)
        try readForeignKeys(&found)
        let aliases = found.compactMap { key, shape in
            shape.isOwn ? (alias: key, table: shape.name) : nil
        }
        return SQLSchema(
            Array(found.values),
            aliases: aliases,
            ignoresCase: session.ignoresTableCase
        )
    }

    private func rows(_ sql: String) throws(SQLError) -> [[String]] {
        try session.query(sql, [.text(Array(database.utf8))]).rows
            .map { $0.map { $0.text ?? "" } }
    }

    private static let tableTypes: Set = ["BASE TABLE", "SYSTEM VERSIONED"]

    private static func problem(_ name: String, type: String, engine: String) -> String? {
        switch type {
        case "BASE TABLE" where engine == "InnoDB": nil
        case "BASE TABLE":
            "'\(name)' is kept by the engine \(engine.isEmpty ? "of no name" : engine), which has"
                + " no transactions; only InnoDB can be purged"
        case "SYSTEM VERSIONED":
            "'\(name)' is system-versioned: its history would keep what is deleted"
        default: "'\(name)' is a view or a sequence, not a table"
        }
    }

    // MARK: Columns

    private func readColumns(_ found: inout [String: TableShape]) throws(SQLError) {
        for row in try rows(Self.columnSQL) {
            let (type, collation, privileges) = (row[3], row[5], row[10])
            let key = "\(row[0]).\(row[1])"
            let isBinary = Self.bytes.contains(type)
            var column = ColumnShape(
                name: row[2],
                type: type,
                typeText: "is of type '\(row[4])'",
                collation: collation,
                declaration: "\(row[4]) \(row[9])",
                idTypes: Self.idTypes[type] ?? (isBinary ? [.blob, .text] : []),
                units: Self.units[type] ?? [],
                holdsText: !collation.isEmpty && type != "enum" && type != "set",
                comparison: collation.isEmpty || collation.hasSuffix("_bin")
                    ? nil : "takes different texts for equal",
                isNotNull: row[7] == "NO",
                isGenerated: !row[8].isEmpty
            )
            column.lengthMax = Int(row[6])
            column.written = MySQLDialect.quoted(row[2])
            column.canUpdate = privileges.contains("update")
            found[key]?.columns.append(column)
            if !privileges.contains("select") { found[key]?.canSelect = false }
        }
    }

    private static let bytes: Set<String> = [
        "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
    ]

    private static let idTypes: [String: Set<IDType>] = [
        "char": [.text], "varchar": [.text], "tinytext": [.text], "text": [.text],
        "mediumtext": [.text], "longtext": [.text], "tinyint": [.integer], "smallint": [.integer],
        "mediumint": [.integer], "int": [.integer], "bigint": [.integer], "decimal": [.integer],
        "uuid": [.uuid],
    ]

    private static let units: [String: Set<CreationColumn.Unit>] = [
        "int": numbers, "bigint": numbers, "decimal": numbers, "double": numbers,
        "timestamp": [.timestamp], "datetime": [.timestamp], "date": [.timestamp],
    ]
    private static let numbers: Set<CreationColumn.Unit> = [.unixSeconds, .unixMilliseconds]

    // MARK: Keys

    /// Of one index, the columns follow each other; a part of a text or an expression is none.
    private func readKeys(_ found: inout [String: TableShape]) throws(SQLError) {
        for index in try rows(Self.indexSQL).runs(of: 3) {
            let key = "\(index[0][0]).\(index[0][1])"
            found[key]?.note(
                columns: index.map { $0[4] },
                isPrimary: index[0][2] == "PRIMARY",
                isUnique: index[0][3] == "0" && index.allSatisfy { $0[5].isEmpty && !$0[4].isEmpty }
            )
        }
        for key in found.keys { found[key]?.nameRows() }
    }

    private func readForeignKeys(_ found: inout [String: TableShape]) throws(SQLError) {
        for group in try rows(Self.foreignKeySQL).runs(of: 3) {
            let first = group[0]
            guard let parent = found["\(first[3]).\(first[4])"] else { continue }
            found["\(first[0]).\(first[1])"]?.foreignKeys.append(
                ForeignKey(
                    parent: parent.name,
                    childColumns: group.map { $0[6] },
                    parentColumns: group.map { $0[7] },
                    // InnoDB knows no later check.
                    onDelete: first[5] == "NO ACTION" ? "RESTRICT" : first[5],
                    // Error 1451.
                    keepsOwnRows: ["NO ACTION", "RESTRICT"].contains(first[5])
                        && first[0] == first[3] && first[1] == first[4],
                    isEnforced: true
                )
            )
        }
    }

    // MARK: Statements

    /// The database, and those with tables that refer to it.
    private static func ours(_ column: String) -> String {
        """
        (\(column) = ?1 OR \(column) IN (SELECT CONSTRAINT_SCHEMA
        FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = ?1))
        """
    }

    private static let tableSQL = """
        SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE,
            CONCAT(QUOTE(SUBSTRING(CURRENT_USER(), 1, CHAR_LENGTH(CURRENT_USER()) - 1
                - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))), '@',
                QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))
        FROM information_schema.TABLES
        WHERE \(ours("TABLE_SCHEMA")) LIMIT \(MySQLLimits.catalogRows)
        """

    private static let columnSQL = """
        SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, LOWER(DATA_TYPE), COLUMN_TYPE,
            COLLATION_NAME, CHARACTER_MAXIMUM_LENGTH, IS_NULLABLE, GENERATION_EXPRESSION,
            LOWER(EXTRA), LOWER(PRIVILEGES)
        FROM information_schema.COLUMNS WHERE \(ours("TABLE_SCHEMA"))
        ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION LIMIT \(MySQLLimits.catalogRows)
        """

    private static let indexSQL = """
        SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART
        FROM information_schema.STATISTICS
        WHERE \(ours("TABLE_SCHEMA")) AND INDEX_TYPE = 'BTREE'
        ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX
        LIMIT \(MySQLLimits.catalogRows)
        """

    private static let foreignKeySQL = """
        SELECT k.CONSTRAINT_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.REFERENCED_TABLE_SCHEMA,
            k.REFERENCED_TABLE_NAME, r.DELETE_RULE, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME
        FROM information_schema.KEY_COLUMN_USAGE AS k
        JOIN information_schema.REFERENTIAL_CONSTRAINTS AS r
            ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.TABLE_NAME = k.TABLE_NAME
            AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME
        WHERE k.REFERENCED_TABLE_SCHEMA = ?1 OR k.CONSTRAINT_SCHEMA = ?1
        ORDER BY k.CONSTRAINT_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION
        LIMIT \(MySQLLimits.catalogRows)
        """
}

extension TableShape {
    fileprivate mutating func note(columns names: [String], isPrimary: Bool, isUnique: Bool) {
        indexes.append(Array(names.prefix { !$0.isEmpty }))
        guard let first = columns.firstIndex(where: { $0.name == names[0] }) else { return }
        if isUnique {
            if names.count == 1 { columns[first].isUnique = true }
            uniqueKeys.insert(names, at: isPrimary ? 0 : uniqueKeys.count)
        }
        guard isPrimary else { return }
        for index in columns.indices where names.contains(columns[index].name) {
            columns[index].isPrimaryKey = true
        }
    }

    /// By the first unique key whose values come back as they were stored.
    fileprivate mutating func nameRows() {
        let inexact: Set<String> = ["float", "double", "bit"]
        let key = uniqueKeys.first { names in
            names.allSatisfy { name in
                columns.contains { $0.name == name && $0.isNotNull && !inexact.contains($0.type) }
            }
        }
        rowKeys = (key ?? []).map(MySQLDialect.quoted)
    }
}
