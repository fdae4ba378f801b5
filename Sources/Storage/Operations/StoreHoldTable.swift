import Encoding
import Lifecycle

/// Stops on stores, as rows of `store_holds`.
struct StoreHoldTable {
    let database: any StateConnection

    /// - Throws: `DatabaseError`; a constraint when the name is taken, unless another host may have
    ///   taken it just now: then that hold stays.
    func insert(_ hold: StoreHold, in scope: PartitionScope = .all) throws {
        try database.run(
            Column.insertion + (scope.isShared ? " ON CONFLICT (name) DO NOTHING" : ""),
            Column.row([
                .name: .text(hold.name), .store: .text(hold.store.rawValue),
                .rows: .text(hold.rows?.columnText), .reason: .text(hold.reason),
                .since: .time(hold.since), .uid: .uid(hold.uid),
            ])
        )
    }

    func delete(_ name: String) throws {
        try database.run("DELETE FROM store_holds WHERE name = ?", [.text(name)])
    }

    /// The oldest first.
    func all() throws -> [StoreHold] {
        try database.all(
            Column.self,
            "FROM store_holds ORDER BY since, name"
        ) { row in
            StoreHold(
                name: row.text(.name),
                store: row.store(.store),
                rows: try row.textOrNil(.rows).map { try RowFilter(columnText: $0) },
                reason: row.textOrNil(.reason),
                since: row.time(.since),
                uid: row.uid(.uid)
            )
        }
    }

    private enum Column: Int32, Columns {
        case name, store, rows, reason, since, uid

        static let selection = makeSelection()
        static let insertion = insertion(of: allCases, into: "store_holds")
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
