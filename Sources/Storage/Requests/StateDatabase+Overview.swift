import Engine
package import Lifecycle

extension StateDatabase {
    /// Counts open requests by age in one pass over their index, and reads the next deadlines.
    ///
    /// `ages` has the upper ends of all ranges but the last, the shortest first.
    package func openOverview(
        at now: WallTime,
        ages: [Duration],
        near: Duration,
        deadlinesMax: Int
    ) async throws -> OpenOverview {
        try await read { database in
            var overview = OpenOverview()
            let kinds = try database.all(OpenKind.allSQL) { try OpenKind($0) }
            overview.groups = try OpenKind.groups(kinds, ages.map { now - $0 }, database)
            overview.deadlines = try database.all(
                """
                SELECT id, deadline_at, phase, park_reason
                FROM requests INDEXED BY requests_deadline
                WHERE ended_at IS NULL ORDER BY deadline_at LIMIT ?
                """,
                [.int(deadlinesMax)]
            ) { row in
                let kind = try OpenKind(row)
                return OpenOverview.Deadline(
                    request: try row.requestID("id"),
                    at: row.time("deadline_at"),
                    state: kind.state,
                    reason: kind.parkReason
                )
            }
            let dueSQL = """
                SELECT count(*) FROM requests INDEXED BY requests_deadline
                WHERE ended_at IS NULL AND deadline_at > ? AND deadline_at <= ?
                """
            overview.overdue = try database.int(dueSQL, [.time(.distantPast), .time(now)])
            overview.near = try database.int(dueSQL, [.time(now), .time(now + near)])
            return overview
        }
    }
}

extension OpenKind {
    /// `bounds` are times, the latest first: a request from before the last is the oldest kind.
    ///
    /// Ids grow with the time of acceptance, and the index has them.
    fileprivate static func groups(
        _ kinds: [OpenKind],
        _ bounds: [WallTime],
        _ database: any StateConnection
    ) throws -> [OpenOverview.Group] {
        guard !kinds.isEmpty else { return [] }
        let columns = kinds.indices.map { index in
            let isKind = kinds[index].condition(at: index * 2 + 1)
            let older = bounds.indices.map {
                "count(*) FILTER (WHERE \(isKind) AND id < ?\(kinds.count * 2 + $0 + 1))"
            }
            let ofKind = "FILTER (WHERE \(isKind))"
            return (["min(id) \(ofKind)", "count(*) \(ofKind)"] + older)
                .joined(separator: ", ")
        }
        let sql = """
            SELECT \(columns.joined(separator: ", "))
            FROM requests INDEXED BY requests_due WHERE ended_at IS NULL
            """
        let values =
            kinds.flatMap(\.values) + bounds.map { .id(RequestID($0)) }
        let width = bounds.count + 2
        let found = try database.all(sql, values) { row in
            try kinds.indices.map { index in
                let first = Int32(index * width)
                let oldest = try row.requestIDOrNil(.at(first))
                return (
                    oldest: oldest, sums: (1..<Int32(width)).map { row.int(.at(first + $0)) }
                )
            }
        }
        return try zip(kinds, found.first ?? []).map { kind, counted in
            OpenOverview.Group(
                state: kind.state,
                reason: kind.parkReason,
                counts: zip(counted.sums, counted.sums.dropFirst() + [0]).map { $0 - $1 },
                oldest: counted.oldest,
                oldestAt: try counted.oldest.flatMap { id in
                    try database.time("SELECT accepted_at FROM requests WHERE id = ?", [.id(id)])
                }
            )
        }
    }
}

extension RequestID {
    /// The least id of this time.
    fileprivate init(_ time: WallTime) {
        let milliseconds = UInt64(max(0, time.unixMilliseconds)) & 0xffff_ffff_ffff
        self.init(TimeOrderedID(high: milliseconds << 16, low: 0))
    }
}
