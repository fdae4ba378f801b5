/// The statements of SQLite that change or count one user's rows of a table.
struct SQLiteWork: Sendable {
    /// Works on all rows at once; only when no more than one chunk was counted.
    let workSQL: String
    /// Works on one chunk.
    let chunkSQL: String
    /// The lowest row of the next chunk, for tables where worked rows do not leave the set.
    let cursorSQL: String?
    /// Newer rows, after all chunks.
    let newerSQL: String?
    /// Counts for a plan, in pieces.
    let counting: SQLiteCounting
    /// Counts what is left, for a verification in pieces; `nil` for kept rows.
    let checking: SQLiteCounting?
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
        let hasCursor = rows.assignments != nil && table.hasRowID
        let isOrdered = hasCursor || (rows.isSelfReferencing && table.hasRowID)
        let chunk =
            "FROM \(table.reference) WHERE \(rows.work)"
            + (hasCursor ? " AND \(rowKey) < \(key)" : "")
            + (isOrdered ? " ORDER BY \(rowKey) DESC" : "") + " LIMIT \(limit)"
        let check = check(rows.rule, table)
        return SQLiteWork(
            workSQL: "\(verb) WHERE \(rows.work)",
            chunkSQL: "\(verb) WHERE (\(rowKey)) IN (SELECT \(rowKey) \(chunk))",
            cursorSQL: hasCursor
                ? "SELECT min(k), count(*), 0 FROM (SELECT \(rowKey) AS k \(chunk))" : nil,
            newerSQL: rows.cutoff.map {
                count(in: table, where: "\(rows.match)\(rows.todo) AND \($0)")
            },
            counting: SQLiteCounting(
                table,
                wanted: rows.match + rows.todo,
                times: (cutoff: rows.cutoff, undated: rows.undated)
            ),
            checking: rows.rule.action == .keep
                ? nil
                : SQLiteCounting(
                    table,
                    wanted: check + rows.todo + rows.open,
                    candidates: check,
                    times: (cutoff: nil, undated: "0")
                ),
            blockers: rows.referring.map { key in
                SQLiteObstacles.Blocker(
                    table: key.table,
                    columns: key.columns,
                    sql: count(in: table, where: "\(rows.work) AND \(key.condition)", limit: "1")
                )
            }
        )
    }

    static func statements(of work: SQLiteWork) -> [String] {
        [work.workSQL, work.chunkSQL, work.cursorSQL, work.newerSQL].compactMap(\.self)
            + work.counting.statements + (work.checking?.statements ?? [])
            + work.blockers.map(\.sql)
    }
}
