import Engine
import GRDB
package import Lifecycle

extension StateDatabase {
    /// One request, open or ended.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func requestRecord(_ id: RequestID) async throws -> RequestRecord? {
        try await read { try Self.record(id, $0) }
    }

    /// One page of requests, the newest first.
    ///
    /// - Parameters:
    ///   - filter: What to show.
    ///   - cursor: The last request of the page before.
    ///   - limit: The most requests to return, at most ``listLimitMax``.
    /// - Returns: The page, and where the next one begins.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func requestRecords(
        _ filter: RequestFilter,
        cursor: RequestID?,
        limit: Int
    ) async throws -> RequestPage {
        let limit = min(max(limit, 1), Self.listLimitMax)
        let (condition, values) = filter.condition(before: cursor)
        return try await read { database in
            let ids = try database.all(
                "SELECT id FROM requests WHERE \(condition) ORDER BY id DESC LIMIT ?",
                values: values + [.int(limit + 1)]
            ) { try $0.requestID(0) }
            let page = ids.prefix(limit)
            return RequestPage(
                records: try page.compactMap { try Self.record($0, database) },
                next: ids.count > limit ? page.last : nil
            )
        }
    }

    /// The most requests of one page: one short snapshot.
    package static let listLimitMax = 500

    /// Forgets what was being worked on when the last process ended; call once, before the engine
    /// starts.
    ///
    /// - Parameter isOwnCrash: The process ended by its own fault: it is counted against each of
    ///   them.
    /// - Returns: The suspects of that crash, else nothing.
    /// - Throws: ``StorageError``: nothing was recorded.
    package func takeSuspects(isOwnCrash: Bool) async throws -> [RequestID] {
        try await writer.perform { database in
            let active = try database.all(
                """
                SELECT id FROM requests INDEXED BY requests_due
                WHERE ended_at IS NULL AND is_active = 1
                """
            ) { try $0.requestID(0) }
            for id in active {
                try database.run(
                    "UPDATE requests SET is_active = 0, crash_count = crash_count + ? WHERE id = ?",
                    .bool(isOwnCrash),
                    .id(id.value)
                )
            }
            return isOwnCrash ? active : []
        }
    }

    /// Counts for status and metrics; reads the index of open requests twice.
    ///
    /// Without GROUP BY, for which SQLite sorts a copy of all rows in memory: that is 80 bytes for
    /// each open request, each time somebody asks. DISTINCT keeps one row of each kind.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func requestCounts() async throws -> RequestCounts {
        try await read { database in
            var counts = RequestCounts()
            let kinds = try database.all(OpenKind.allSQL) { try OpenKind($0) }
            let (sums, oldest) = try OpenKind.count(kinds, database)
            for (kind, count) in zip(kinds, sums) {
                counts.byState[kind.state, default: 0] += count
                if let reason = kind.parkReason {
                    counts.byParkReason[reason, default: 0] += count
                }
            }
            try database.each("SELECT completed, cancelled FROM totals") { row in
                counts.byState[.completed] = row.int(0)
                counts.byState[.cancelled] = row.int(1)
            }
            counts.oldestAcceptedAt = try oldest.flatMap { id in
                try database.first("SELECT accepted_at FROM requests WHERE id = ?", .id(id.value)) {
                    $0.time(0)
                }
            }
            try database.each(Self.blockedSQL) { row in
                counts.blocked[TargetName(row.text(0)), default: 0] += 1
            }
            return counts
        }
    }

    /// Few have an obstacle; those of ended requests say nothing any more.
    private static let blockedSQL = """
        SELECT p.target FROM purges p INDEXED BY purges_blocked
        JOIN requests r ON r.id = p.request_id
        WHERE p.obstacle IS NOT NULL AND r.ended_at IS NULL
        """

    private static func record(_ id: RequestID, _ database: Database) throws -> RequestRecord? {
        let found = try database.first(
            "SELECT \(RequestRow.columns) FROM requests WHERE id = ?",
            .id(id.value)
        ) { try RequestRow($0) }
        guard var row = found else { return nil }
        try row.loadWork(database)
        let scrubbedAt = try row.endSequence.flatMap { sequence in
            try database.first(
                "SELECT at FROM scrubs WHERE through >= ? ORDER BY through LIMIT 1",
                .int(sequence)
            ) { $0.time(0) }
        }
        let openRecheck =
            row.request.phase.isEnded ? try RecheckOutlook.find(id, database) : nil
        return RequestRecord(
            row,
            scrubbedAt: scrubbedAt,
            openRecheck: openRecheck,
            addenda: try Addendum.all(of: id, database)
        )
    }
}

extension RequestFilter {
    /// The WHERE clause; texts of the caller are parameters, never part of it.
    fileprivate func condition(before cursor: RequestID?) -> (String, [SQLValue]) {
        var terms = ["1"]
        var values: [SQLValue] = []
        if let cursor {
            terms.append("id < ?")
            values.append(.id(cursor.value))
        }
        if let userHash {
            terms.append("user_hash = ?")
            values.append(.blob(userHash))
        }
        if let originUID {
            terms.append("origin_uid = ?")
            values.append(.int(Int64(originUID)))
        }
        if let provider {
            terms.append(
                "id IN (SELECT request_id FROM revocations WHERE request_id = id AND provider = ?)"
            )
            values.append(.text(provider.rawValue))
        }
        if !states.isEmpty {
            let stateTerms = states.sorted { $0.rawValue < $1.rawValue }.map { state in
                guard state != .parked else { return "park_reason IS NOT NULL" }
                values.append(.text(state.rawValue))
                return "(phase = ? AND park_reason IS NULL)"
            }
            terms.append("(" + stateTerms.joined(separator: " OR ") + ")")
        }
        return (terms.joined(separator: " AND "), values)
    }
}
