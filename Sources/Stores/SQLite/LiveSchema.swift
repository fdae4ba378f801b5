internal import GRDB
internal import GRDBSQLite

/// The schema of the target database at one schema version.
struct LiveSchema: Sendable {
    let version: Int64
    /// By lower-cased name.
    let tables: [String: TableShape]

    func table(_ name: String) -> TableShape? { tables[name.lowercased()] }

    /// The application's own tables, as the coverage check wants them.
    var ownTables: [SchemaCoverage.Table] {
        tables.values.filter { $0.kind == "table" && !$0.name.lowercased().hasPrefix("sqlite_") }
            .map { shape in
                SchemaCoverage.Table(
                    name: shape.name,
                    columns: shape.columns.map(\.name),
                    foreignKeys: shape.foreignKeys
                )
            }
    }

    /// Reads every table; the caller holds a transaction, so that the parts fit together.
    init(_ db: Database) throws {
        version = try Self.version(db)
        var tables: [String: TableShape] = [:]
        let list = try Row.fetchAll(
            db,
            sql: "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'"
        )
        for row in list {
            let name: String = row["name"]
            tables[name.lowercased()] = try Self.shape(
                db,
                name: name,
                kind: row["type"],
                isWithoutRowID: row["wr"],
                isStrict: row["strict"]
            )
        }
        self.tables = tables
    }

    /// Changes with every change of the schema, by any connection.
    static func version(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version")) ?? 0
    }

    private static func shape(
        _ db: Database,
        name: String,
        kind: String,
        isWithoutRowID: Bool,
        isStrict: Bool
    ) throws -> TableShape {
        guard kind == "table" else {
            return TableShape(
                kind: kind,
                name: name,
                isWithoutRowID: isWithoutRowID,
                isStrict: isStrict,
                columns: [],
                foreignKeys: [],
                indexedColumns: [],
                uniqueColumns: []
            )
        }
        let indexes = try indexes(db, name)
        return TableShape(
            kind: kind,
            name: name,
            isWithoutRowID: isWithoutRowID,
            isStrict: isStrict,
            columns: try columns(db, name, isStrict: isStrict),
            foreignKeys: try foreignKeys(db, name),
            indexedColumns: Set(indexes.compactMap(\.columns.first)),
            uniqueColumns: Set(
                indexes.filter { $0.isUnique && $0.columns.count == 1 }.flatMap(\.columns)
            )
        )
    }

    private static func columns(
        _ db: Database,
        _ table: String,
        isStrict: Bool
    ) throws -> [ColumnShape] {
        let sql = """
            SELECT name, type, "notnull" AS required, pk, hidden FROM pragma_table_xinfo(?)
            """
        return try Row.fetchAll(db, sql: sql, arguments: [table]).map { row in
            let name: String = row["name"]
            let type: String = row["type"]
            let hidden: Int = row["hidden"]
            return ColumnShape(
                name: name,
                declaredType: type,
                affinity: ColumnShape.affinity(ofDeclaredType: type, isStrict: isStrict),
                collation: collation(db, table: table, column: name),
                isNotNull: row["required"],
                isGenerated: hidden > 1,
                primaryKeyPosition: row["pk"]
            )
        }
    }

    private static func collation(_ db: Database, table: String, column: String) -> String {
        var name: UnsafePointer<CChar>?
        let code = unsafe sqlite3_table_column_metadata(
            db.sqliteConnection,
            "main",
            table,
            column,
            nil,
            &name,
            nil,
            nil,
            nil
        )
        guard code == SQLITE_OK, let name = unsafe name else { return "unknown" }
        return unsafe String(cString: name)
    }

    private static func foreignKeys(_ db: Database, _ table: String) throws -> [ForeignKey] {
        let sql = """
            SELECT id, "table" AS parent, "from" AS child, "to" AS referred, on_delete
            FROM pragma_foreign_key_list(?) ORDER BY id, seq
            """
        let rows = try Row.fetchAll(db, sql: sql, arguments: [table])
        let groups = Dictionary(grouping: rows) { row -> Int in row["id"] }
        return try groups.sorted { $0.key < $1.key }.compactMap { _, rows in
            guard let first = rows.first else { return nil }
            let parent: String = first["parent"]
            let named = rows.compactMap { row -> String? in row["referred"] }
            let action: String = first["on_delete"]
            return ForeignKey(
                parent: parent,
                childColumns: rows.map { row -> String in row["child"] },
                parentColumns: named.isEmpty ? try primaryKey(db, parent) : named,
                onDelete: action.uppercased()
            )
        }
    }

    private static func primaryKey(_ db: Database, _ table: String) throws -> [String] {
        try String.fetchAll(
            db,
            sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
            arguments: [table]
        )
    }

    private static func indexes(
        _ db: Database,
        _ table: String
    ) throws -> [(isUnique: Bool, columns: [String])] {
        let sql = """
            SELECT l.name AS idx, l."unique" AS uniq, i.name AS col
            FROM pragma_index_list(?) AS l, pragma_index_info(l.name) AS i
            WHERE l.partial = 0 ORDER BY l.seq, i.seqno
            """
        var found: [String: (isUnique: Bool, columns: [String])] = [:]
        for row in try Row.fetchAll(db, sql: sql, arguments: [table]) {
            let name: String = row["idx"]
            // An expression has no name; it ends what we can say about the index.
            let column: String = row["col"] ?? ""
            found[name, default: (isUnique: row["uniq"], columns: [])].columns.append(
                column.lowercased()
            )
        }
        let keys = try primaryKey(db, table).map { $0.lowercased() }
        if keys.count == 1 { found["", default: (true, [])].columns.append(contentsOf: keys) }
        return Array(found.values)
    }
}
