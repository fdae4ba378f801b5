import GRDB
import Lifecycle

/// The index of due work, lane by lane.
///
/// The lane of no provider is the empty text.
enum DueLanes {
    /// The lanes that have open requests; a seek each, whatever the number of requests.
    static func all(_ database: Database) throws -> [String] {
        var lanes: [String] = []
        while let lane = try next(after: lanes.last, database) { lanes.append(lane) }
        return lanes
    }

    private static func next(after lane: String?, _ database: Database) throws -> String? {
        guard let lane else {
            return try database.first(
                """
                SELECT lane FROM requests INDEXED BY requests_due WHERE ended_at IS NULL
                ORDER BY lane LIMIT 1
                """
            ) { $0.text(0) }
        }
        return try database.first(
            """
            SELECT lane FROM requests INDEXED BY requests_due WHERE ended_at IS NULL AND lane > ?
            ORDER BY lane LIMIT 1
            """,
            .text(lane)
        ) { $0.text(0) }
    }

    /// The longest due requests of a lane that are not in `excluded`.
    static func due(
        _ lane: String,
        at now: WallTime,
        limit: Int,
        excluding excluded: Set<RequestID>,
        _ database: Database
    ) throws -> [(id: RequestID, dueAt: WallTime)] {
        var due: [(id: RequestID, dueAt: WallTime)] = []
        try database.each(
            """
            SELECT id, due_at FROM requests INDEXED BY requests_due
            WHERE ended_at IS NULL AND lane = ? AND due_at <= ? ORDER BY due_at LIMIT ?
            """,
            .text(lane),
            .time(now),
            .int(limit + excluded.count)
        ) { row in
            let id = try row.requestID(0)
            guard due.count < limit, !excluded.contains(id) else { return }
            due.append((id, row.time(1)))
        }
        return due
    }

    /// When the next request of a lane becomes due that is not due yet.
    static func next(
        _ lane: String,
        after now: WallTime,
        _ database: Database
    ) throws -> WallTime? {
        try database.first(
            """
            SELECT due_at FROM requests INDEXED BY requests_due
            WHERE ended_at IS NULL AND lane = ? AND due_at > ? ORDER BY due_at LIMIT 1
            """,
            .text(lane),
            .time(now)
        ) { $0.time(0) }
    }
}
