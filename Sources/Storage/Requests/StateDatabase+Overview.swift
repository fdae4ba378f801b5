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
            overview.groups = try OpenKind.groups(ages.map { now - $0 }, database)
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
