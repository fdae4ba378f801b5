package import Engine
package import Lifecycle

extension StateDatabase {
    /// One request, open or ended.
    package func requestRecord(_ id: RequestID) async throws -> RequestRecord? {
        try await read { try RequestRecord.find(id, $0) }
    }

    /// The newest first, at most ``listLimitMax``; `cursor` is the last one of the page before.
    package func requestRecords(
        _ filter: RequestFilter,
        cursor: RequestID?,
        limit: Int
    ) async throws -> RequestPage {
        let limit = min(max(limit, 1), Self.listLimitMax)
        let (condition, values) = filter.condition(before: cursor)
        return try await read { database in
            let ids = try database.requestIDs(
                "SELECT id FROM requests WHERE \(condition) ORDER BY id DESC LIMIT ?",
                values + [.int(limit + 1)]
            )
            let page = ids.prefix(limit)
            return RequestPage(
                records: try page.compactMap { try RequestRecord.find($0, database) },
                next: ids.count > limit ? page.last : nil
            )
        }
    }

    /// One short snapshot.
    package static let listLimitMax = 500

    /// Forgets what was being worked on when the last process ended; call once, before the engine
    /// starts.
    ///
    /// After a crash of our own, counts it against each request and returns these.
    package func takeSuspects(isOwnCrash: Bool) async throws -> [RequestID] {
        try await writer.perform { database in
            let active = try database.requestIDs(
                """
                SELECT id FROM requests INDEXED BY requests_due
                WHERE ended_at IS NULL AND is_active = 1
                """
            )
            for id in active {
                try database.run(
                    "UPDATE requests SET is_active = 0, crash_count = crash_count + ? WHERE id = ?",
                    [.bool(isOwnCrash), .id(id)]
                )
            }
            return isOwnCrash ? active : []
        }
    }

    /// Reads the index of open requests twice.
    package func requestCounts() async throws -> RequestCounts {
        try await read { database in
            var counts = RequestCounts()
            for group in try OpenKind.groups([], database) {
                counts.byState[group.state, default: 0] += group.counts[0]
                if let reason = group.reason {
                    counts.byParkReason[reason, default: 0] += group.counts[0]
                }
                if let id = group.oldest, counts.oldestID.map({ id < $0 }) ?? true {
                    (counts.oldestID, counts.oldestAcceptedAt) = (id, group.oldestAt)
                }
            }
            try database.each("SELECT completed, cancelled FROM totals") { row in
                counts.byState[.completed] = row.int("completed")
                counts.byState[.cancelled] = row.int("cancelled")
            }
            try database.each(Self.blockedSQL) { row in
                let (store, words) = (row.store("store"), row.text("obstacle"))
                counts.blocked[store, default: [:]][words, default: 0] += 1
            }
            return counts
        }
    }

    /// Open requests with a deadline up to `time`, the earliest first.
    package func deadlines(before time: WallTime, limit: Int) async throws -> [DeadlineRow] {
        try await all(
            """
            SELECT id, deadline_at FROM requests INDEXED BY requests_deadline
            WHERE ended_at IS NULL AND deadline_at <= ? ORDER BY deadline_at LIMIT ?
            """,
            [.time(time), .int(limit)]
        ) { DeadlineRow(request: try $0.requestID("id"), deadlineAt: $0.time("deadline_at")) }
    }

    /// Open deletions that have begun to purge one of some stores, and whether one is purged.
    package func openDeletions(
        begunIn stores: Set<StoreName>
    ) async throws -> [RequestID: Bool] {
        try await read { database in
            var found: [RequestID: Bool] = [:]
            try database.each(
                """
                SELECT purges.request_id, store, step <> 'waiting' AS is_purged
                FROM requests INDEXED BY requests_deadline
                JOIN purges ON purges.request_id = requests.id
                WHERE requests.ended_at IS NULL AND purge_started_at IS NOT NULL
                  AND purges.attempts > 0
                """
            ) { row in
                guard stores.contains(row.store("store")) else { return }
                let id = try row.requestID("request_id")
                found[id] = found[id] ?? false || row.bool("is_purged")
            }
            return found
        }
    }

    /// How many identities there have no verdict, per client id, where the request is open, is not
    /// parked and does not wait for its time.
    ///
    /// Without GROUP BY, for which SQLite sorts a copy of all rows in memory.
    package func waitingCounts(at provider: ProviderName) async throws -> [String: Int] {
        try await read { database in
            var counts: [String: Int] = [:]
            try database.each(
                """
                SELECT client_id FROM requests INDEXED BY requests_deadline
                JOIN revocations ON revocations.request_id = requests.id
                WHERE requests.ended_at IS NULL AND park_reason IS NULL AND phase <> 'scheduled'
                  AND provider = ? AND verdict IS NULL
                """,
                [.text(provider.rawValue)]
            ) { counts[$0.text("client_id"), default: 0] += 1 }
            return counts
        }
    }

    /// Few have an obstacle; those of ended requests say nothing any more.
    private static let blockedSQL = """
        SELECT p.store, p.obstacle FROM purges p INDEXED BY purges_blocked
        JOIN requests r ON r.id = p.request_id
        WHERE p.obstacle IS NOT NULL AND r.ended_at IS NULL
        """
}

extension RequestFilter {
    /// Texts of the caller are parameters, never part of the clause.
    fileprivate func condition(before cursor: RequestID?) -> (String, [SQLValue]) {
        var terms = ["1 = 1"]
        var values: [SQLValue] = []
        if let cursor {
            terms.append("id < ?")
            values.append(.id(cursor))
        }
        if let ids {
            terms.append("id BETWEEN ? AND ?")
            values += [.id(ids.lowerBound), .id(ids.upperBound)]
        }
        if let userHash {
            terms.append("user_hash = ?")
            values.append(.blob(userHash))
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

/// Which requests a list shows; what is empty shows all.
package struct RequestFilter: Hashable, Sendable {
    package var states: Set<RequestState> = []
    package var userHash: [UInt8]?
    package var provider: ProviderName?
    package var ids: ClosedRange<RequestID>?

    package init() {}
}

/// One page, the newest request first.
package struct RequestPage: Sendable {
    package let records: [RequestRecord]
    /// The cursor of the next page; `nil` on the last one.
    package let next: RequestID?
}

/// Counts for status and metrics.
package struct RequestCounts: Hashable, Sendable {
    package var byState: [RequestState: Int] = [:]
    package var byParkReason: [ParkReason: Int] = [:]
    /// Open requests that an obstacle in a store blocks, by its words.
    package var blocked: [StoreName: [String: Int]] = [:]
    package var oldestID: RequestID?
    package var oldestAcceptedAt: WallTime?

    package init() {}
}
