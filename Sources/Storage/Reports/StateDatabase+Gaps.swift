package import Lifecycle

extension StateDatabase {
    /// Finds what is missing, so that a report does not show a smaller number as if it were all.
    ///
    /// Each end has a number of its own, without gaps: where numbers lack, rows were removed.
    package func gaps(in period: Range<WallTime>) async throws -> RecordGaps {
        let (found, isWhole): (RecordGaps, Bool) = try await read { database in
            var gaps = RecordGaps()
            gaps.recordsSince = try database.time(
                """
                SELECT accepted_at FROM requests INDEXED BY requests_accepted
                ORDER BY accepted_at LIMIT 1
                """
            )
            let kept = try KeptEnds(database)
            if !kept.hasAllEnds { gaps.requests = try database.missingEnds(in: period, kept) }
            return (gaps, try kept.hasAllEnds && kept.hasAllErasures(database))
        }
        guard !isWhole else { return found }
        var gaps = found
        var position = 0
        while let page = try await tombstonePage(after: position, in: period) {
            gaps.erasures += page.count
            position = page.last
        }
        return gaps
    }

    /// Tombstones of one snapshot; a few milliseconds.
    private static let tombstonePageCount = 50_000

    /// Goes by place, since a restore adds old ones at the end.
    private func tombstonePage(
        after position: Int,
        in period: Range<WallTime>
    ) async throws -> (count: Int, last: Int)? {
        try await read { database in
            let last = try database.int(
                """
                SELECT max(sequence) FROM (SELECT sequence FROM tombstones
                WHERE sequence > ? ORDER BY sequence LIMIT ?) AS page
                """,
                [.int(position), .int(Self.tombstonePageCount)]
            )
            guard last > position else { return nil }
            let count = try database.int(
                """
                SELECT count(*) FROM tombstones t
                WHERE t.sequence > ? AND t.sequence <= ? AND t.erased_at >= ? AND t.erased_at < ?
                  AND t.is_key = 0
                  AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = t.request_id)
                """,
                [
                    .int(position), .int(last), .time(period.lowerBound),
                    .time(period.upperBound),
                ]
            )
            return (count, last)
        }
    }
}

/// How many ends are on record, and how many there were.
private struct KeptEnds {
    var count = 0
    var erasures = 0
    let all: Int

    var hasAllEnds: Bool { count >= all }

    init(_ database: any StateConnection) throws {
        all = try database.int("SELECT completed + cancelled FROM totals")
        try database.each(
            """
            SELECT count(*) AS count,
              count(*) FILTER (WHERE kind = 'delete_account' AND phase = 'completed') AS erasures
            FROM requests INDEXED BY requests_ended WHERE ended_at IS NOT NULL
            """
        ) { row in (count, erasures) = (row.int("count"), row.int("erasures")) }
    }

    /// Each tombstone has the place after the last one; two short reads.
    func hasAllErasures(_ database: any StateConnection) throws -> Bool {
        let places = try database.int("SELECT max(sequence) FROM tombstones")
        let keys = try database.int(
            "SELECT count(*) FROM tombstones INDEXED BY tombstones_keys WHERE is_key = 1"
        )
        return places - keys == erasures
    }
}

/// Ends of one commit are in the order of their numbers, and nearly in that of their times.
private let disorderMax = 1000

extension StateConnection {
    fileprivate func missingEnds(in period: Range<WallTime>, _ kept: KeptEnds) throws -> Int {
        let before = try int(
            """
            SELECT max(end_sequence) FROM (
              SELECT end_sequence FROM requests INDEXED BY requests_ended
              WHERE ended_at < ? ORDER BY ended_at DESC LIMIT \(disorderMax)) AS page
            """,
            [.time(period.lowerBound)]
        )
        let next = try first(
            """
            SELECT min(end_sequence) FROM (
              SELECT end_sequence FROM requests INDEXED BY requests_ended
              WHERE ended_at >= ? ORDER BY ended_at LIMIT \(disorderMax)) AS page
            """,
            [.time(period.upperBound)]
        ) { $0.intOrNil() }
        let found = try int(
            """
            SELECT count(*) FROM requests INDEXED BY requests_ended
            WHERE ended_at >= ? AND ended_at < ?
            """,
            [.time(period.lowerBound), .time(period.upperBound)]
        )
        let after = (next ?? nil) ?? kept.all + 1
        return min(kept.all - kept.count, max(0, after - before - 1 - found))
    }
}
