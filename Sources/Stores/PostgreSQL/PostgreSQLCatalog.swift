internal import Lifecycle

/// The application's tables at one moment, from the system catalogs.
struct PostgreSQLCatalog: Sendable {
    /// By ``PostgreSQLTable/name``.
    let tables: [String: PostgreSQLTable]
    private let schemas: [String]

    /// Finds the table that a rule names, with or without its schema.
    func table(_ name: String) -> PostgreSQLTable? {
        for schema in schemas {
            if let table = tables[Self.name(schema, name, first: schemas.first)] { return table }
        }
        return tables[name]
            ?? tables.values.first { "\($0.schema).\($0.table)" == name }
    }

    /// What the coverage check looks through: the configured schemas.
    var ownTables: [SchemaCoverage.Table] {
        tables.values.filter { schemas.contains($0.schema) && ["r", "p"].contains($0.kind) }
            .map { table in
                SchemaCoverage.Table(
                    name: table.name,
                    columns: table.columns.map(\.name),
                    foreignKeys: table.foreignKeys
                )
            }
    }

    private static func name(_ schema: String, _ table: String, first: String?) -> String {
        schema == first ? table : "\(schema).\(table)"
    }

    /// Reads all user tables; four statements.
    init(
        _ session: PostgreSQLSession,
        schemas: [String],
        within limit: Duration
    ) throws(PostgreSQLError) {
        self.schemas = schemas
        var found: [String: PostgreSQLTable] = [:]
        for row in try session.query(Self.tableSQL, within: limit).rows {
            let values = row.map { $0 ?? "" }
            found[values[0]] = PostgreSQLTable(
                schema: values[1],
                table: values[2],
                name: Self.name(values[1], values[2], first: schemas.first),
                kind: values[3],
                canSelect: values[4] == "t",
                canDelete: values[5] == "t",
                canLock: values[6] == "t"
            )
        }
        for row in try session.query(Self.columnSQL, within: limit).rows {
            let values = row.map { $0 ?? "" }
            found[values[0]]?.columns.append(
                PostgreSQLColumn(
                    name: values[1],
                    type: values[2],
                    typeSchema: values[3],
                    lengthMax: Int(values[4]),
                    isNotNull: values[5] == "t",
                    isGenerated: values[6] == "t",
                    isDeterministic: values[7] == "t",
                    canUpdate: values[8] == "t"
                )
            )
        }
        for row in try session.query(Self.indexSQL, within: limit).rows {
            let values = row.map { $0 ?? "" }
            found[values[0]]?.indexedColumns.insert(values[1])
            if values[2] == "t" { found[values[0]]?.uniqueColumns.insert(values[1]) }
            if values[3] == "t" { found[values[0]]?.primaryKey.insert(values[1]) }
        }
        try Self.readForeignKeys(session, within: limit, &found)
        tables = Dictionary(found.values.map { ($0.name, $0) }) { first, _ in first }
    }

    private static func readForeignKeys(
        _ session: PostgreSQLSession,
        within limit: Duration,
        _ found: inout [String: PostgreSQLTable]
    ) throws(PostgreSQLError) {
        var keys: [(id: String, child: String, parent: String, action: String)] = []
        var columns: [String: [(child: String, parent: String)]] = [:]
        for row in try session.query(foreignKeySQL, within: limit).rows {
            let values = row.map { $0 ?? "" }
            if columns[values[0]] == nil {
                keys.append((values[0], values[1], values[2], values[3]))
            }
            columns[values[0], default: []].append((child: values[4], parent: values[5]))
        }
        let actions = [
            "a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL",
            "d": "SET DEFAULT",
        ]
        for key in keys {
            guard let parent = found[key.parent] else { continue }
            let pairs = columns[key.id] ?? []
            found[key.child]?.foreignKeys.append(
                ForeignKey(
                    parent: parent.name,
                    childColumns: pairs.map(\.child),
                    parentColumns: pairs.map(\.parent),
                    onDelete: actions[key.action] ?? key.action
                )
            )
        }
    }

    /// Tables of the application: not the server's, not partitions, which go with their table.
    private static let ours = """
        c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
        """

    private static let tableSQL = """
        SELECT c.oid, n.nspname, c.relname, c.relkind, has_table_privilege(c.oid, 'SELECT'),
            has_table_privilege(c.oid, 'DELETE'), has_any_column_privilege(c.oid, 'UPDATE')
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE \(ours) ORDER BY c.oid LIMIT \(PostgreSQLLimits.catalogRows)
        """

    private static let columnSQL = """
        SELECT c.oid, a.attname, b.typname, bn.nspname,
            CASE WHEN b.typname = 'varchar' AND greatest(a.atttypmod, t.typtypmod) > 4
                THEN greatest(a.atttypmod, t.typtypmod) - 4 END,
            a.attnotnull, a.attgenerated <> '' OR a.attidentity = 'a',
            coalesce(l.collisdeterministic, true),
            has_column_privilege(c.oid, a.attnum, 'UPDATE')
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type t ON t.oid = a.atttypid
        JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
        JOIN pg_namespace bn ON bn.oid = b.typnamespace
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE \(ours) ORDER BY c.oid, a.attnum LIMIT \(PostgreSQLLimits.catalogRows)
        """

    private static let indexSQL = """
        SELECT c.oid, a.attname, i.indisunique AND i.indnkeyatts = 1, false
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_index i ON i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE \(ours)
        UNION ALL
        SELECT c.oid, a.attname, false, true
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
        WHERE \(ours)
        LIMIT \(PostgreSQLLimits.catalogRows)
        """

    private static let foreignKeySQL = """
        SELECT k.oid, k.conrelid, k.confrelid, k.confdeltype, ca.attname, pa.attname
        FROM pg_constraint k
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u(child, parent, place)
        JOIN pg_attribute ca ON ca.attrelid = k.conrelid AND ca.attnum = u.child
        JOIN pg_attribute pa ON pa.attrelid = k.confrelid AND pa.attnum = u.parent
        WHERE k.contype = 'f' AND k.conparentid = 0
        ORDER BY k.oid, u.place LIMIT \(PostgreSQLLimits.catalogRows)
        """
}
