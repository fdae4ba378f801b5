import Encoding
import Lifecycle

/// Stops on targets, as rows of `target_holds`.
struct TargetHoldTable {
    let database: any StateConnection

    /// - Throws: `DatabaseError`; a constraint when the name is taken, unless another host may have
    ///   taken it just now: then that hold stays.
    func insert(_ hold: TargetHold, in scope: PartitionScope = .all) throws {
        try database.run(
            Column.insertion + (scope.isShared ? " ON CONFLICT (name) DO NOTHING" : ""),
            Column.row([
                .name: .text(hold.name), .target: .text(hold.target.rawValue),
                .rows: .text(hold.rows?.columnText), .reason: .text(hold.reason),
                .since: .time(hold.since), .uid: .uid(hold.uid),
            ])
        )
    }

    func delete(_ name: String) throws {
        try database.run("DELETE FROM target_holds WHERE name = ?", [.text(name)])
    }

    /// The oldest first.
    func all() throws -> [TargetHold] {
        try database.all(
            Column.self,
            "FROM target_holds ORDER BY since, name"
        ) { row in
            TargetHold(
                name: row.text(.name),
                target: row.target(.target),
                rows: try row.textOrNil(.rows).map { try RowFilter(columnText: $0) },
                reason: row.textOrNil(.reason),
                since: row.time(.since),
                uid: row.uid(.uid)
            )
        }
    }

    private enum Column: Int32, Columns {
        case name, target, rows, reason, since, uid

        static let selection = makeSelection()
        static let insertion = insertion(of: allCases, into: "target_holds")
    }
}

extension RowFilter {
    /// The table, then each column with its values: `["orders",["status","disputed","open"]]`.
    fileprivate var columnText: String {
        ColumnText.encode(
            [.string(table)]
                + conditions.map { .array(([$0.column] + $0.values).map { .string($0) }) }
        )
    }

    fileprivate init(columnText: String) throws {
        let values = try ColumnText(columnText, "rows")
        let conditions = try (1..<max(1, values.count)).map { index in
            let texts = try values.row(index).texts()
            guard texts.count > 1 else { throw StorageError.malformed("rows") }
            return Condition(column: texts[0], values: Array(texts.dropFirst()))
        }
        self.init(table: try values.text(0), conditions: conditions)
    }
}
