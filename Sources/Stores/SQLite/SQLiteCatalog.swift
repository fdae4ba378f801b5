import GRDB
import GRDBSQLite
import Lifecycle

/// Reads the schema of a SQLite database; the caller holds a transaction, so that the parts fit.
struct SQLiteCatalog {
    static let versionSQL = "PRAGMA main.schema_version"

    let db: Database
    var sparesLongValues = false

    func read() throws -> SQLSchema {
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'"
        )
        let names = Dictionary(
            rows.map { row -> (String, String) in
                let name: String = row["name"]
                return (name.lowercased(), name)
            }
        ) { first, _ in first }
        return SQLSchema(
            try rows.map { try shape($0, names) },
            version: try Int64.fetchOne(db.cachedStatement(sql: Self.versionSQL)) ?? 0,
            ignoresCase: true
        )
    }

    private func shape(_ row: Row, _ names: [String: String]) throws -> TableShape {
        let (name, kind): (String, String) = (row["name"], row["type"])
        var shape = TableShape(name: name, reference: SQLiteDialect.quoted(name))
        shape.sparesLongValues = sparesLongValues
        shape.isOwn = !name.lowercased().hasPrefix("sqlite_")
        guard kind == "table" else {
            shape.problem = "'\(name)' is a \(kind), not a table"
            shape.holdsRows = false
            return shape
        }
        let primaryKey = try primaryKey(name)
        let indexes = try indexes(name, primaryKey)
        shape.uniqueKeys = indexes.filter { $0.isUnique && !$0.columns.contains("") }
            .map(\.columns)
        shape.indexes = indexes.map { Array($0.columns.prefix { !$0.isEmpty }) }
        shape.columns = try columns(name, isStrict: row["strict"], primaryKey, indexes)
        shape.foreignKeys = try foreignKeys(name, names)
        shape.hasTriggers = try hasTriggers(name)
        // A name that means the rowid and not a column (sqlite.org/rowidtable.html).
        let rowID = ["rowid", "_rowid_", "oid"].first {
            shape.column($0, ignoringCase: true) == nil
        }
        shape.hasRowID = rowID != nil && row["wr"] == false
        shape.rowKeys =
            shape.hasRowID
            ? [rowID].compactMap(\.self).map { "\(shape.reference).\($0)" }
            : primaryKey.map(SQLiteDialect.quoted)
        if shape.rowKeys.isEmpty {
            shape.problem = "table '\(name)' has columns named rowid, _rowid_ and oid"
        }
        return shape
    }

    private func columns(
        _ table: String,
        isStrict: Bool,
        _ primaryKey: [String],
        _ indexes: [(isUnique: Bool, columns: [String])]
    ) throws -> [ColumnShape] {
        let unique = Set(
            indexes.filter { $0.isUnique && $0.columns.count == 1 }.flatMap(\.columns)
        )
        let sql = """
            SELECT name, type, "notnull" AS required, hidden FROM pragma_table_xinfo(?)
            """
        return try Row.fetchAll(db, sql: sql, arguments: [table]).map { row in
            let (name, type): (String, String) = (row["name"], row["type"])
            let affinity = Affinity(declared: type, isStrict: isStrict)
            let collation = collation(table, name)
            let (hidden, isRequired): (Int, Bool) = (row["hidden"], row["required"])
            // The rowid under another name (sqlite.org/lang_createtable.html, 5).
            let isRowID = primaryKey == [name] && type.uppercased() == "INTEGER"
            return ColumnShape(
                name: name,
                type: type,
                typeText: "is declared '\(type)' (\(affinity.rawValue) affinity)",
                idTypes: affinity.idTypes,
                units: affinity == .text
                    ? [.iso8601] : [.iso8601, .unixSeconds, .unixMilliseconds],
                holdsText: affinity == .text || affinity == .none && !isStrict,
                comparison: collation.lowercased() == "binary" ? nil : "compares as \(collation)",
                isLoose: !isStrict || type.uppercased() == "ANY",
                isNotNull: isRequired || isRowID,
                isGenerated: hidden > 1,
                isUnique: unique.contains(name.lowercased()),
                isPrimaryKey: primaryKey.contains(name)
            )
        }
    }

    /// Type affinity (sqlite.org/datatype3.html, 3.1).
    private enum Affinity: String {
        case text, integer, numeric, real, none

        init(declared type: String, isStrict: Bool) {
            let type = type.uppercased()
            let has = { (words: String...) in words.contains { type.contains($0) } }
            if has("INT") {
                self = .integer
            } else if has("CHAR", "CLOB", "TEXT") {
                self = .text
            } else if type.isEmpty || has("BLOB") || (isStrict && type == "ANY") {
                self = .none
            } else {
                self = has("REAL", "FLOA", "DOUB") ? .real : .numeric
            }
        }

        var idTypes: Set<IDType> {
            switch self {
            case .text: [.text]
            case .integer, .numeric: [.integer]
            case .real: []
            case .none: [.text, .integer, .blob, .mixed]
            }
        }
    }

    private func collation(_ table: String, _ column: String) -> String {
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

    private func foreignKeys(_ table: String, _ names: [String: String]) throws -> [ForeignKey] {
        let sql = """
            SELECT id, "table" AS parent, "from" AS child, "to" AS referred, on_delete
            FROM pragma_foreign_key_list(?) ORDER BY id, seq
            """
        let rows = try Row.fetchAll(db, sql: sql, arguments: [table])
        let groups = Dictionary(grouping: rows) { row -> Int in row["id"] }
        return try groups.sorted { $0.key < $1.key }.compactMap { _, rows in
            guard let first = rows.first else { return nil }
            let (parent, action): (String, String) = (first["parent"], first["on_delete"])
            let named = rows.compactMap { row -> String? in row["referred"] }
            return ForeignKey(
                parent: names[parent.lowercased()] ?? parent,
                childColumns: rows.map { row -> String in row["child"] },
                parentColumns: named.isEmpty ? try primaryKey(parent) : named,
                onDelete: action.uppercased(),
                isDeferrable: true
            )
        }
    }

    private func hasTriggers(_ table: String) throws -> Bool {
        let sql = """
            SELECT count(*) FROM main.sqlite_schema
            WHERE type = 'trigger' AND lower(tbl_name) = lower(?)
            """
        return try Int.fetchOne(db, sql: sql, arguments: [table]) ?? 0 > 0
    }

    private func primaryKey(_ table: String) throws -> [String] {
        try String.fetchAll(
            db,
            sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
            arguments: [table]
        )
    }

    /// Of all rows; columns in lower case.
    private func indexes(
        _ table: String,
        _ primaryKey: [String]
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
        if primaryKey.count == 1 { found[""] = (true, primaryKey.map { $0.lowercased() }) }
        return Array(found.values)
    }
}
