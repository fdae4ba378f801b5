import Engine
package import Lifecycle

/// An open request that needs attention: it is parked, or past its deadline.
package struct WaitingRow: Hashable, Sendable {
    package let request: RequestID
    package let kind: RequestKind
    package let state: RequestState
    package let parkReason: ParkReason?
    package let createdAt: WallTime
    package let deadlineAt: WallTime
    /// When the request was changed last, which for a parked one is when it was parked.
    package let since: WallTime

    fileprivate init(_ row: SQLRow) throws {
        request = try row.requestID("id")
        kind = try row.choice("kind", as: RequestKind.self)
        parkReason = try row.choiceOrNil("park_reason", as: ParkReason.self)
        state = parkReason == nil ? try row.choice("phase", as: RequestState.self) : .parked
        createdAt = row.time("created_at")
        deadlineAt = row.time("deadline_at")
        since = row.time("updated_at")
    }
}

/// Requests that were accepted before some time and are open now.
package struct OpenCounts: Sendable {
    package internal(set) var byState: [RequestState: Int] = [:]
    package internal(set) var byParkReason: [ParkReason: Int] = [:]
    /// Deletions past their deadline.
    package internal(set) var overdueCount = 0
    /// The nearest deadline first, at most ``StateDatabase/waitingRowMax``.
    package internal(set) var waiting: [WaitingRow] = []
    /// All that are parked or past their deadline.
    package internal(set) var waitingCount = 0
    package internal(set) var heldUserCount = 0

    package init() {}
}

extension StateDatabase {
    /// A printed page of them; the rest is a number.
    package static let waitingRowMax = 100

    /// Goes through the open requests by deadline, page by page.
    package func openCounts(
        acceptedBefore end: WallTime,
        at now: WallTime
    ) async throws -> OpenCounts {
        var counts = OpenCounts()
        counts.heldUserCount = try await read { try $0.int("SELECT count(*) FROM user_holds") }
        var position = (at: WallTime.distantPast, id: SQLValue.blob([]))
        while true {
            let (at, id) = position
            let page = try await read { try OpenPage.read(after: at, id, end, now, $0) }
            counts.add(page)
            guard let last = page.last else { return counts }
            position = (last.deadlineAt, .id(last.request))
        }
    }
}

extension OpenCounts {
    fileprivate mutating func add(_ page: OpenPage) {
        byState.merge(page.byState) { $0 + $1 }
        byParkReason.merge(page.byParkReason) { $0 + $1 }
        overdueCount += page.overdueCount
        waitingCount += page.waiting.count
        waiting += page.waiting.prefix(StateDatabase.waitingRowMax - waiting.count)
    }
}

private struct OpenPage: Sendable {
    static let countMax = 5000

    private(set) var last: WaitingRow?
    private(set) var byState: [RequestState: Int] = [:]
    private(set) var byParkReason: [ParkReason: Int] = [:]
    private(set) var overdueCount = 0
    private(set) var waiting: [WaitingRow] = []

    static func read(
        after deadline: WallTime,
        _ id: SQLValue,
        _ end: WallTime,
        _ now: WallTime,
        _ database: any StateConnection
    ) throws -> OpenPage {
        var page = OpenPage()
        try database.each(
            """
            SELECT id, kind, phase, park_reason, created_at, deadline_at, updated_at, accepted_at
            FROM requests INDEXED BY requests_deadline
            WHERE ended_at IS NULL AND deadline_at >= ?1 AND (deadline_at, id) > (?1, ?2)
            ORDER BY deadline_at, id LIMIT ?3
            """,
            [.time(deadline), id, .int(countMax)]
        ) { row in
            let found = try WaitingRow(row)
            page.last = found
            guard row.time("accepted_at") < end else { return }
            page.add(found, at: now)
        }
        return page
    }

    private mutating func add(_ row: WaitingRow, at now: WallTime) {
        byState[row.state, default: 0] += 1
        if let reason = row.parkReason { byParkReason[reason, default: 0] += 1 }
        let isOverdue = row.deadlineAt <= now
        if isOverdue, row.kind == .deleteAccount { overdueCount += 1 }
        if isOverdue || row.parkReason != nil { waiting.append(row) }
    }
}

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
