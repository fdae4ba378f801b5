import Engine
package import Lifecycle

extension StateDatabase {
    /// Adds up what was completed within a time.
    ///
    /// It goes through the ends page by page, each in a snapshot of its own: neither the writer nor
    /// a scrub waits for more than one page. What has ended does not change, so the pages agree.
    /// `purges` gets each page's groups, outside of the snapshot.
    package func completedCounts(
        in period: Range<WallTime>,
        purges: ([PurgeGroup]) async throws -> Void
    ) async throws -> CompletedCounts {
        var counts = CompletedCounts()
        var position = EndPosition(at: period.lowerBound, sequence: -1)
        while let page = try await endPage(after: position, before: period.upperBound) {
            counts.durations += page.durations
            counts.lateCount += page.lateCount
            for (provider, verdicts) in page.verdicts {
                counts.verdicts[provider, default: [:]].merge(verdicts) { $0 + $1 }
            }
            try await purges(page.purges.map { try PurgeGroup($0.key, count: $0.value) })
            position = page.last
        }
        counts.durations.sort()
        return counts
    }

    /// The document of a scope that requests name; `nil` without one.
    package func scopeDocument(_ id: Int?) async throws -> String? {
        try await first("SELECT document FROM scopes WHERE id = ?", [.int(id)]) { $0.text() }
    }

    private func endPage(
        after position: EndPosition,
        before end: WallTime
    ) async throws -> EndPage? {
        try await read { try EndPage.read(after: position, before: end, $0) }
    }
}

/// The place of a request among the ends, by the index.
struct EndPosition: Sendable {
    let at: WallTime
    let sequence: Int

    var values: [SQLValue] { [.time(at), .int(sequence)] }
}

extension PurgeGroup {
    fileprivate init(_ key: EndPage.PurgeKey, count: Int) throws {
        var work = PurgeWork(store: StoreName(key.store))
        work.step = .verified
        work.counts = try PurgeCounts(columnText: key.counts)
        self.work = work
        scope = key.scope
        requestCount = count
    }
}

private struct EndPage: Sendable {
    struct PurgeKey: Hashable, Sendable {
        let scope: Int?
        let store: String
        let counts: String
    }

    /// With their purges and revocations, these are some thousand rows: milliseconds.
    static let countMax = 2000

    let last: EndPosition
    var durations: [Duration] = []
    var lateCount = 0
    var verdicts: [ProviderName: [Verdict: Int]] = [:]
    var purges: [PurgeKey: Int] = [:]

    /// `nil` when there are no more.
    static func read(
        after first: EndPosition,
        before end: WallTime,
        _ database: any StateConnection
    ) throws -> EndPage? {
        var last: EndPosition?
        var durations: [Duration] = []
        var lateCount = 0
        try database.each(
            """
            SELECT ended_at, end_sequence, kind, phase, created_at, deadline_at
            FROM requests INDEXED BY requests_ended
            WHERE ended_at >= ?1 AND (ended_at, end_sequence) > (?1, ?2) AND ended_at < ?3
            ORDER BY ended_at, end_sequence LIMIT ?4
            """,
            first.values + [.time(end), .int(countMax)]
        ) { row in
            let endedAt = row.time("ended_at")
            last = EndPosition(at: endedAt, sequence: row.int("end_sequence"))
            guard row.text("phase") == "completed",
                row.text("kind") == RequestKind.deleteAccount.rawValue
            else { return }
            durations.append(max(.zero, endedAt.since(row.time("created_at"))))
            if endedAt > row.time("deadline_at") { lateCount += 1 }
        }
        guard let last else { return nil }
        var page = EndPage(last: last, durations: durations, lateCount: lateCount)
        try page.addWork(first.values + last.values, database)
        return page
    }

    private mutating func addWork(_ span: [SQLValue], _ database: any StateConnection) throws {
        try database.each(
            "SELECT v.provider, v.verdict, count(*) AS count "
                + Self.from("revocations v ON v.request_id = r.id")
                + " AND v.verdict IS NOT NULL GROUP BY v.provider, v.verdict",
            span
        ) { row in
            let verdict = try row.choice("verdict", as: Verdict.self)
            verdicts[row.provider("provider"), default: [:]][verdict] = row.int("count")
        }
        try database.each(
            "SELECT r.scope, p.store, p.counts "
                + Self.from("purges p ON p.request_id = r.id")
                + " AND r.kind = 'delete_account'",
            span
        ) { row in
            let key = PurgeKey(
                scope: row.intOrNil("scope"),
                store: row.text("store"),
                counts: row.text("counts")
            )
            purges[key, default: 0] += 1
        }
    }

    private static func from(_ work: String) -> String {
        """
        FROM requests r INDEXED BY requests_ended CROSS JOIN \(work)
        WHERE r.ended_at >= ?1 AND (r.ended_at, r.end_sequence) > (?1, ?2)
          AND r.ended_at <= ?3 AND (r.ended_at, r.end_sequence) <= (?3, ?4)
          AND r.phase = 'completed'
        """
    }
}

/// What the requests add up to that were completed within a time.
package struct CompletedCounts: Sendable {
    /// From the making of a deletion to its end, ascending.
    package internal(set) var durations: [Duration] = []
    /// Deletions that ended after their deadline.
    package internal(set) var lateCount = 0
    package internal(set) var verdicts: [ProviderName: [Verdict: Int]] = [:]

    package init() {}

    /// How many took no longer.
    package func count(upTo bound: Duration) -> Int {
        durations.indices.partitionPoint { durations[$0] > bound }
    }

    /// The smallest of them that at least this share of all does not exceed (nearest rank); `nil`
    /// without any.
    package func duration(at share: Double) -> Duration? {
        guard !durations.isEmpty else { return nil }
        let rank = Int((share * Double(durations.count)).rounded(.up))
        return durations[min(max(rank, 1), durations.count) - 1]
    }
}

/// Deletions whose purges of a store had the same counts.
package struct PurgeGroup: Sendable {
    /// The purge as a receipt takes it.
    package let work: PurgeWork
    /// ``StateDatabase/scopeDocument(_:)``; `nil` if none was recorded.
    package let scope: Int?
    package let requestCount: Int
}
