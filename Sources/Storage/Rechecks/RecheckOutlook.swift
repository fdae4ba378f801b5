import Encoding
package import Lifecycle

/// The next recheck of a completed deletion.
package struct RecheckOutlook: Hashable, Sendable {
    package let dueAt: WallTime
    /// Since when data is known to be in a store again.
    package let returnedAt: WallTime?

    static func find(_ id: RequestID, _ database: any StateConnection) throws -> RecheckOutlook? {
        try database.first(
            "SELECT due_at, returned_at FROM rechecks WHERE request_id = ?",
            [.id(id)]
        ) { RecheckOutlook(dueAt: $0.time("due_at"), returnedAt: $0.timeOrNil("returned_at")) }
    }
}

/// The column `rechecks`: time, outcome, what was found, and the stores that could not be asked.
extension [Recheck] {
    /// As many as a month of daily rechecks of data that stays; the first ones go.
    static let storedCountMax = 32

    var columnText: String {
        ColumnText.encode(
            suffix(Self.storedCountMax).map { recheck in
                let found = recheck.found.map { found -> JSONValue in
                    .array([.string(found.store.rawValue), .int(found.rowCount)])
                }
                return .array([
                    .time(recheck.at), .string(recheck.outcome.rawValue), .array(found),
                    .array(recheck.missing.map { .string($0.rawValue) }),
                ])
            }
        )
    }

    init(columnText: String?) throws {
        guard let columnText else {
            self = []
            return
        }
        self = try ColumnText(columnText, "rechecks").rows().map { row in
            Recheck(
                at: try row.time(0),
                try row.choice(1, as: Recheck.Outcome.self),
                found: try row.row(2).rows().map {
                    Recheck.Found(store: StoreName(try $0.text(0)), rowCount: try $0.int(1))
                },
                missing: try row.row(3).texts().map { StoreName($0) }
            )
        }
    }
}
