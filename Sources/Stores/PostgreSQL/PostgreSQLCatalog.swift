import Lifecycle

/// Reads the application's tables from the system catalogs, by four statements.
struct PostgreSQLCatalog {
    let session: PostgreSQLSession
    /// The tables of the first one are named without it.
    let schemas: [String]

    func read() throws(SQLError) -> SQLSchema {
        var found: [String: TableShape] = [:]
        var aliases: [(alias: String, table: String)] = []
        for row in try rows(Self.tableSQL) {
            let (schema, table, isTable) = (row[1], row[2], ["r", "p"].contains(row[3]))
            let name = schema == schemas.first ? table : "\(schema).\(table)"
            let place = [schema, table].map(PostgreSQLDialect.quoted).joined(separator: ".")
            var shape = TableShape(name: name, reference: place)
            if !isTable { shape.problem = "'\(name)' is a view or a foreign table, not a table" }
            shape.holdsRows = isTable || row[3] == "m"
            shape.isOwn = schemas.contains(schema)
            shape.canSelect = row[4] == "t"
            shape.canDelete = row[5] == "t"
            shape.canLock = row[6] == "t"
            shape.hasParts = row[7] == "t"
            (shape.grantee, shape.schemaGrant) = (row[8], row[9])
            found[row[0]] = shape
            aliases.append((alias: "\(schema).\(table)", table: name))
        }
        try readColumns(&found)
        try readForeignKeys(&found)
        // A table that is named without its schema is in the first listed schema that has it.
        let names = Set(found.values.map(\.name))
        for schema in schemas.dropFirst() {
            aliases += names.filter { $0.hasPrefix(schema + ".") }
                .map { (alias: String($0.dropFirst(schema.count + 1)), table: $0) }
        }
        return SQLSchema(Array(found.values), aliases: aliases, ignoresCase: false)
    }

    private func rows(_ sql: String) throws(SQLError) -> [[String]] {
        try session.query(sql).rows.map { $0.map { $0 ?? "" } }
    }

    private func readColumns(_ found: inout [String: TableShape]) throws(SQLError) {
        var primaryKeys: Set<String> = []
        var indexes: [String: (table: String, columns: [String])] = [:]
        for row in try rows(Self.indexSQL) {
            indexes[row[1], default: (table: row[0], columns: [])].columns.append(row[2])
            if row[3] == "t" { primaryKeys.insert(row[0] + "." + row[2]) }
        }
        // An expression has no name.
        for index in indexes.values {
            found[index.table]?.indexes.append(Array(index.columns.prefix { !$0.isEmpty }))
        }
        var keys: [String: (table: String, columns: [String])] = [:]
        for row in try rows(Self.uniqueKeySQL) {
            keys[row[1], default: (table: row[0], columns: [])].columns.append(row[2])
        }
        var unique: Set<String> = []
        for key in keys.values {
            found[key.table]?.uniqueKeys.append(key.columns)
            if key.columns.count == 1 { unique.insert(key.table + "." + key.columns[0]) }
        }
        for row in try rows(Self.columnSQL) {
            let (type, place) = (row[2], row[0] + "." + row[1])
            let isEqual = type == "citext" || row[7] == "f"
            let isPadded = type == "bpchar"
            found[row[0]]?.columns.append(
                ColumnShape(
                    name: row[1],
                    type: type,
                    typeText: "is of type '\(type)'",
                    typeSchema: row[3],
                    collation: row[9],
                    idTypes: Self.idTypes[type] ?? [],
                    units: Self.units[type] ?? [],
                    holdsText: Self.idTypes[type] == [.text],
                    comparison: isEqual
                        ? "takes different texts for equal"
                        : isPadded ? ColumnShape.ignoresBlanks : nil,
                    lengthMax: Int(row[4]),
                    isNotNull: row[5] == "t",
                    isGenerated: row[6] == "t",
                    isUnique: unique.contains(place),
                    isPrimaryKey: primaryKeys.contains(place),
                    canUpdate: row[8] == "t",
                    written: row[10]
                )
            )
        }
    }

    private static let idTypes: [String: Set<IDType>] = [
        "text": [.text], "varchar": [.text], "citext": [.text], "bpchar": [.text],
        "int2": [.integer], "int4": [.integer], "int8": [.integer], "numeric": [.integer],
        "bytea": [.blob], "uuid": [.uuid],
    ]

    private static let units: [String: Set<CreationColumn.Unit>] = [
        "int2": numbers, "int4": numbers, "int8": numbers, "numeric": numbers, "float8": numbers,
        "timestamptz": [.timestamp], "timestamp": [.timestamp], "date": [.timestamp],
    ]
    private static let numbers: Set<CreationColumn.Unit> = [.unixSeconds, .unixMilliseconds]

    private static let actions = [
        "a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT",
    ]

    /// Of one key, the pairs of columns follow each other.
    private func readForeignKeys(_ found: inout [String: TableShape]) throws(SQLError) {
        for group in try rows(Self.foreignKeySQL).runs(of: 1) {
            guard let parent = found[group[0][2]] else { continue }
            var key = ForeignKey(
                parent: parent.name,
                childColumns: group.map { $0[4] },
                parentColumns: group.map { $0[5] },
                onDelete: Self.actions[group[0][3]] ?? group[0][3],
                nulledColumns: group.filter { $0[11] == "t" }.map { $0[4] },
                isEnforced: group[0][6] == "t",
                isDeferrable: group[0][10] == "t"
            )
            key.keeper = Self.keeper(
                isDisabled: group[0][7] == "t",
                trigger: group[0][8],
                rule: group[0][9]
            )
            found[group[0][1]]?.foreignKeys.append(key)
        }
    }

    /// What may keep rows that a cascade should take (PostgreSQL 15, 39.1 and 41.4).
    private static func keeper(isDisabled: Bool, trigger: String, rule: String) -> String? {
        if isDisabled { return "triggers of the foreign key are disabled" }
        if !trigger.isEmpty { return "trigger '\(trigger)' runs before a DELETE and may keep them" }
        return rule.isEmpty ? nil : "rule '\(rule)' rewrites a DELETE and may keep them"
    }

    /// Tables of the application: not the server's, not partitions, which go with their table.
    private static let ours = """
        c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
        """

    private static let tableSQL = """
        SELECT c.oid, n.nspname, c.relname, c.relkind, has_table_privilege(c.oid, 'SELECT'),
            has_table_privilege(c.oid, 'DELETE'), has_any_column_privilege(c.oid, 'UPDATE'),
            c.relkind = 'p' OR c.relhassubclass,
            format('%I.%I TO %I', n.nspname, c.relname, current_user),
            CASE WHEN NOT has_schema_privilege(n.oid, 'USAGE')
                THEN format('GRANT USAGE ON SCHEMA %I TO %I;', n.nspname, current_user) END
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE \(ours) ORDER BY c.oid LIMIT \(PostgreSQLLimits.catalogRows)
        """

    private static let columnSQL = """
        SELECT c.oid, a.attname, b.typname, bn.nspname,
            CASE WHEN b.typname IN ('varchar', 'bpchar') AND greatest(a.atttypmod, t.typtypmod) > 4
                THEN greatest(a.atttypmod, t.typtypmod) - 4 END,
            a.attnotnull OR v.needed, a.attgenerated <> '' OR a.attidentity = 'a',
            coalesce(l.collisdeterministic, true),
            has_column_privilege(c.oid, a.attnum, 'UPDATE'),
            CASE WHEN l.oid IS NOT NULL THEN l.collnamespace::regnamespace || '.' || l.collname END,
            quote_ident(a.attname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type t ON t.oid = a.atttypid
        CROSS JOIN LATERAL (
            WITH RECURSIVE d AS (SELECT t.oid, t.typtype, t.typbasetype, t.typnotnull
                UNION ALL SELECT p.oid, p.typtype, p.typbasetype, p.typnotnull
                FROM d JOIN pg_type p ON p.oid = d.typbasetype WHERE d.typtype = 'd')
            SELECT max(d.oid) FILTER (WHERE d.typtype <> 'd') AS base,
                bool_or(d.typnotnull) AS needed FROM d) v
        JOIN pg_type b ON b.oid = v.base
        JOIN pg_namespace bn ON bn.oid = b.typnamespace
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE \(ours) ORDER BY c.oid, a.attnum LIMIT \(PostgreSQLLimits.catalogRows)
        """

    /// Of one index, the columns by which it is searched follow each other.
    private static let indexSQL = """
        SELECT c.oid, i.indexrelid, a.attname, i.indisprimary
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_index i ON i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL
        JOIN pg_class x ON x.oid = i.indexrelid
        JOIN pg_am m ON m.oid = x.relam AND m.amname IN ('btree', 'hash')
        CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS u(place, number)
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.place
        WHERE u.number <= i.indnkeyatts AND \(ours)
        ORDER BY i.indexrelid, u.number LIMIT \(PostgreSQLLimits.catalogRows)
        """

    private static let uniqueKeySQL = """
        SELECT i.indrelid, i.indexrelid, a.attname
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS u(place, number)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.place
        WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
            AND u.number <= i.indnkeyatts AND \(ours)
        ORDER BY i.indexrelid, u.number LIMIT \(PostgreSQLLimits.catalogRows)
        """

    /// `SET NULL (columns)` is of PostgreSQL 15; as JSON, older ones can be asked, too.
    private static let foreignKeySQL = """
        SELECT k.oid, k.conrelid, k.confrelid, k.confdeltype, ca.attname, pa.attname,
            k.convalidated AND NOT EXISTS (SELECT 1 FROM pg_inherits i JOIN pg_class h
                ON h.oid = i.inhrelid WHERE i.inhparent = k.conrelid AND NOT h.relispartition),
            EXISTS (SELECT 1 FROM pg_trigger t
                WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A')),
            (SELECT min(t.tgname) FROM pg_trigger t
                WHERE t.tgrelid = k.conrelid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
                    AND t.tgtype & 11 = 11),
            (SELECT min(w.rulename) FROM pg_rewrite w
                WHERE w.ev_class = k.conrelid AND w.ev_type = '4' AND w.ev_enabled <> 'D'),
            k.condeferrable, to_jsonb(k) ->> 'confdelsetcols' IS NULL
                OR to_jsonb(k) -> 'confdelsetcols' @> to_jsonb(u.child)
        FROM pg_constraint k
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u(child, parent, place)
        JOIN pg_attribute ca ON ca.attrelid = k.conrelid AND ca.attnum = u.child
        JOIN pg_attribute pa ON pa.attrelid = k.confrelid AND pa.attnum = u.parent
        WHERE k.contype = 'f' AND k.conparentid = 0
        ORDER BY k.oid, u.place LIMIT \(PostgreSQLLimits.catalogRows)
        """
}
