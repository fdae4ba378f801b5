import Lifecycle

/// The index of due work, lane by lane; the lane of no provider is the empty text.
enum DueLanes {
    /// The lanes that have open requests; a seek each, whatever the number of requests.
    static func all(_ database: any StateConnection) throws -> [String] {
        var lanes: [String] = []
        while let lane = try next(after: lanes.last, database) { lanes.append(lane) }
        return lanes
    }

    private static func next(after lane: String?, _ database: any StateConnection) throws -> String?
    {
        let condition = lane == nil ? "" : "AND lane > ?"
        return try database.first(
            """
            SELECT lane FROM requests INDEXED BY requests_due WHERE ended_at IS NULL \(condition)
            ORDER BY lane LIMIT 1
            """,
            lane.map { [.text($0)] } ?? []
        ) { $0.text() }
    }
    struct Due {
        let id: RequestID
        let dueAt: WallTime
        /// It comes before whatever its submitter has due besides.
        let isFirst: Bool

        /// Each submitter's first ones, then the rest, the longest due first.
        static func isBefore(_ left: Due, _ right: Due) -> Bool {
            guard left.isFirst == right.isFirst else { return left.isFirst }
            return (left.dueAt, left.id) < (right.dueAt, right.id)
        }
    }

    /// The part of the work of a lane that each uid gets at least; half is for the longest due.
    static let uidShare = 16
    /// Uids that get a share; more applications than one machine has.
    static let uidCountMax = 64

    /// Due requests of a lane: the longest due, and a share for each uid that has submitted any.
    ///
    /// Rows of the spool name no submitter, so all of them count as one.
    static func due(
        _ lane: String,
        at now: WallTime,
        limit: Int,
        excluding excluded: Set<RequestID>,
        in scope: PartitionScope,
        _ database: any StateConnection
    ) throws -> [Due] {
        let oldest = try longestDue(
            """
            SELECT id, due_at FROM requests INDEXED BY requests_due
            WHERE ended_at IS NULL AND lane = ?1 AND due_at <= ?2\(scope.term())
            ORDER BY due_at LIMIT ?3
            """,
            [.text(lane), .time(now)],
            limit: limit,
            excluding: excluded,
            database
        )
        // Nothing is left behind, or no other submitter is there.
        guard oldest.count == limit, limit > 1 else {
            return oldest.map { Due(id: $0.id, dueAt: $0.dueAt, isFirst: true) }
        }
        var shares: [RequestID: WallTime] = [:]
        for uid in try submitters(to: lane, database) {
            let own = try longestDue(
                """
                SELECT id, due_at FROM requests INDEXED BY requests_due_uid
                WHERE ended_at IS NULL AND lane = ?1 AND due_at <= ?2 AND origin_uid = ?4
                  \(scope.term()) ORDER BY due_at LIMIT ?3
                """,
                [.text(lane), .time(now)],
                uid: uid,
                limit: max(1, limit / uidShare),
                excluding: excluded,
                database
            )
            for request in own { shares[request.id] = request.dueAt }
        }
        let half = Set(oldest.prefix(limit - limit / 2).map(\.id))
        var due = shares.map { Due(id: $0.key, dueAt: $0.value, isFirst: true) }
        due += oldest.filter { shares[$0.id] == nil }.map {
            Due(id: $0.id, dueAt: $0.dueAt, isFirst: half.contains($0.id))
        }
        return Array(due.sorted(by: Due.isBefore).prefix(limit))
    }

    private static func longestDue(
        _ sql: String,
        _ bounds: [SQLValue],
        uid: Int? = nil,
        limit: Int,
        excluding excluded: Set<RequestID>,
        _ database: any StateConnection
    ) throws -> [(id: RequestID, dueAt: WallTime)] {
        let values = bounds + [.int(limit + excluded.count)] + (uid.map { [.int($0)] } ?? [])
        let found = try database.all(sql, values) {
            (id: try $0.requestID("id"), dueAt: $0.time("due_at"))
        }
        return Array(found.lazy.filter { !excluded.contains($0.id) }.prefix(limit))
    }

    /// Uids with open requests in a lane; a seek each.
    private static func submitters(to lane: String, _ database: any StateConnection) throws -> [Int]
    {
        var uids: [Int] = []
        while uids.count < uidCountMax {
            let next = try database.first(
                """
                SELECT origin_uid FROM requests INDEXED BY requests_due_uid
                WHERE ended_at IS NULL AND lane = ? AND origin_uid IS NOT NULL AND origin_uid > ?
                ORDER BY origin_uid LIMIT 1
                """,
                [.text(lane), .int(uids.last ?? -1)]
            ) { $0.int() }
            guard let next else { break }
            uids.append(next)
        }
        return uids
    }

    /// When the next request of a lane becomes due that is not due yet.
    static func next(
        _ lane: String,
        after now: WallTime,
        in scope: PartitionScope,
        _ database: any StateConnection
    ) throws -> WallTime? {
        try database.time(
            """
            SELECT due_at FROM requests INDEXED BY requests_due
            WHERE ended_at IS NULL AND lane = ? AND due_at > ?\(scope.term())
            ORDER BY due_at LIMIT 1
            """,
            [.text(lane), .time(now)]
        )
    }
}
