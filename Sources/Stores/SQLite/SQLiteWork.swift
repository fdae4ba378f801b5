/// The statements of SQLite that change or count one user's rows of a table.
struct SQLiteWork: Sendable {
    /// Works on all rows at once; only when no more than one chunk was counted.
    let workSQL: String
    let chunkSQL: String
    /// The keys of what the rows of either release: for each release, of all rows and of a chunk.
    let releasing: [(work: String, chunk: String)]
    /// The bytes of each row of the next chunk, and the row's key; `nil` where SQLite keeps nothing
    /// of a statement in memory, or no row can be long.
    let sizesSQL: String?
    /// Worked rows may stay in the set, so that each chunk begins behind the last one.
    let hasCursor: Bool
    /// Newer rows, after all chunks.
    let newerSQL: String?
    /// Counts for a plan, in pieces.
    let counting: SQLiteCounting
    /// Counts what is left, for a verification in pieces; `nil` for kept rows.
    let checking: SQLiteCounting?
    /// Counts rows that may be of a user to whom nothing leads (``ChainStart``).
    let orphans: SQLiteCounting?
    /// Counts rows that spell a value of the user otherwise, before the work.
    let spelled: SQLiteCounting?
    /// Foreign keys that can keep its rows from going.
    let blockers: [SQLiteObstacles.Blocker]
}

extension SQLiteDialect {
    static func work(_ rows: RowConditions) -> SQLiteWork {
        let table = rows.table
        let verb =
            rows.assignments.map { "UPDATE \(table.reference) SET \($0)" }
            ?? "DELETE FROM \(table.reference)"
        let rowKey = table.rowKeys.joined(separator: ", ")
        let hasCursor = rows.assignments != nil && table.hasRowID && !rows.isRepeated
        let isOrdered = hasCursor || (rows.isSelfReferencing && table.hasRowID)
        let chunk =
            "FROM \(table.reference) WHERE \(rows.work)"
            + (hasCursor ? " AND \(rowKey) < \(key)" : "")
            + (isOrdered ? " ORDER BY \(rowKey) DESC" : "") + " LIMIT \(limit)"
        let check = rows.check
        // Only what has to be taken back as a whole: a change, or a deletion that another one or a
        // check follows.
        let isPlain = rows.assignments == nil && rows.isUnreferenced && !table.hasTriggers
        let sizes = isPlain ? nil : size(of: rows) ?? (hasCursor ? "0" : nil)
        return SQLiteWork(
            workSQL: "\(verb) WHERE \(rows.work)",
            chunkSQL: "\(verb) WHERE (\(rowKey)) IN (SELECT \(rowKey) \(chunk))",
            releasing: rows.releases.map { release in
                let keys = "SELECT DISTINCT \(release.key) FROM \(table.reference) WHERE "
                return (
                    work: keys + rows.work,
                    chunk: "\(keys)(\(rowKey)) IN (SELECT \(rowKey) \(chunk))"
                )
            },
            sizesSQL: sizes.map { "SELECT \($0), \(rowKey) \(chunk)" },
            hasCursor: hasCursor,
            newerSQL: rows.cutoff.map {
                count(in: table, where: "\(rows.match)\(rows.todo) AND \($0)")
            },
            counting: SQLiteCounting(
                table,
                wanted: rows.match + rows.todo,
                times: (cutoff: rows.cutoff, undated: rows.undated)
            ),
            checking: !rows.rule.action.changesRows
                ? nil
                : SQLiteCounting(
                    table,
                    wanted: check + rows.todo + rows.open,
                    candidates: check
                ),
            orphans: rows.start.map { SQLiteCounting(table, wanted: $0.isOrphan) },
            spelled: rows.spelled.map { SQLiteCounting(table, wanted: $0) },
            blockers: rows.referring.map { key in
                SQLiteObstacles.Blocker(
                    table: key.table,
                    columns: key.columns,
                    sql: count(in: table, where: "\(rows.work) AND \(key.condition)", limit: "1")
                )
            }
        )
    }

    /// The bytes of a row in columns that may hold long values; `nil` without any.
    private static func size(of rows: RowConditions) -> String? {
        let (table, numbers) = (rows.table, ["INT", "REAL", "FLOA", "DOUB"])
        // The user id is short.
        let id = rows.rule.via == nil && rows.rule.inside == nil ? rows.rule.column : nil
        let terms = table.columns.filter { column in
            let type = column.type.uppercased()
            return !column.isGenerated && !numbers.contains { type.contains($0) }
                && id.map { !isSame($0, column.name) } ?? true
        }
        .prefix(SQLiteLimits.sizedColumns).map { column in
            // SQLite reads no bytes for the length of bytes (OPFLAG_LENGTHARG).
            let value = self.column(column.name, of: table.reference)
            return byteCount(of: column.name, in: table)
                ?? "CASE typeof(\(value)) WHEN 'text' THEN length(CAST(\(value) AS BLOB))"
                + " ELSE coalesce(length(\(value)), 0) END"
        }
        return terms.isEmpty ? nil : terms.joined(separator: " + ")
    }

    static func statements(of work: SQLiteWork) -> [String] {
        work.releasing.flatMap { [$0.work, $0.chunk] }
            + [work.workSQL, work.chunkSQL, work.sizesSQL, work.newerSQL].compactMap(\.self)
            + work.counting.statements + (work.checking?.statements ?? [])
            + (work.orphans?.statements ?? []) + (work.spelled?.statements ?? [])
            + work.blockers.map(\.sql)
    }
}
