package import Lifecycle

/// How many requests began and ended within a time.
package struct PeriodTotals: Hashable, Sendable {
    package var submitted = 0
    package var completed = 0
    /// Without merged ones.
    package var cancelled = 0
    /// `revoke_tokens` requests whose work a deletion of the same user does.
    package var merged = 0

    package init() {}

    package var ended: Int { completed + cancelled + merged }

    package static func + (left: PeriodTotals, right: PeriodTotals) -> PeriodTotals {
        var sum = left
        sum.submitted += right.submitted
        sum.completed += right.completed
        sum.cancelled += right.cancelled
        sum.merged += right.merged
        return sum
    }
}

extension StateDatabase {
    /// The totals of several times, by kind; reads two indexes, in one snapshot for each time.
    package func periodTotals(
        of periods: [Range<WallTime>]
    ) async throws -> [[RequestKind: PeriodTotals]] {
        var totals: [[RequestKind: PeriodTotals]] = []
        for period in periods {
            totals.append(
                try await read { try PeriodTotals.read(period, $0) }
            )
        }
        return totals
    }
}

extension PeriodTotals {
    /// Without GROUP BY, for which SQLite would sort a copy of all rows.
    fileprivate static func read(
        _ period: Range<WallTime>,
        _ database: any StateConnection
    ) throws -> [RequestKind: PeriodTotals] {
        let span: [SQLValue] = [.time(period.lowerBound), .time(period.upperBound)]
        var (deletions, revocations) = (PeriodTotals(), PeriodTotals())
        try database.each(
            """
            SELECT count(*) AS count,
              count(*) FILTER (WHERE kind = 'delete_account') AS deletions
            FROM requests INDEXED BY requests_accepted WHERE accepted_at >= ? AND accepted_at < ?
            """,
            span
        ) { row in
            deletions.submitted = row.int("deletions")
            revocations.submitted = row.int("count") - deletions.submitted
        }
        let isDeletion = "kind = 'delete_account'"
        let isCompleted = "phase = 'completed'"
        try database.each(
            """
            SELECT count(*) AS count, count(*) FILTER (WHERE \(isDeletion)) AS deletions,
              count(*) FILTER (WHERE \(isCompleted)) AS completed,
              count(*) FILTER (WHERE \(isDeletion) AND \(isCompleted)) AS erased,
              count(*) FILTER (WHERE end_detail = '\(Request.merged)') AS merged
            FROM requests INDEXED BY requests_ended WHERE ended_at >= ? AND ended_at < ?
            """,
            span
        ) { row in
            deletions.completed = row.int("erased")
            deletions.cancelled = row.int("deletions") - deletions.completed
            revocations.completed = row.int("completed") - deletions.completed
            // Only a revocation is merged, and only into a deletion.
            revocations.merged = row.int("merged")
            revocations.cancelled =
                row.int("count") - row.int("deletions") - revocations.completed
                - revocations.merged
        }
        return [.deleteAccount: deletions, .revokeTokens: revocations]
    }
}
