import Lifecycle

/// What the changes of one commit add up to; written once, at its end.
final class CommitCounter {
    /// Requests that had ended before; read with the first end.
    private var endedBefore: Int?
    private var completedCount = 0
    private var cancelledCount = 0
    /// By the second.
    private var purgeCounts: [Int64: Int] = [:]

    /// The place of the next end among all ends.
    func nextEnd(_ database: any StateConnection) throws -> Int {
        let before =
            try endedBefore ?? database.int("SELECT completed + cancelled FROM totals")
        endedBefore = before
        return before + completedCount + cancelledCount + 1
    }

    func noteEnd(isCompleted: Bool) {
        if isCompleted { completedCount += 1 } else { cancelledCount += 1 }
    }

    func notePurge(at time: WallTime) {
        purgeCounts[time.unixMilliseconds / 1000, default: 0] += 1
    }

    func write(_ database: any StateConnection) throws {
        if completedCount + cancelledCount > 0 {
            try database.send(
                """
                UPDATE totals SET completed = completed + ?, cancelled = cancelled + ?
                WHERE id = 1
                """,
                [.int(completedCount), .int(cancelledCount)]
            )
        }
        for (second, count) in purgeCounts {
            try database.send(
                PurgeLog.addition,
                PurgeLog.Column.row([.second: .int(second), .count: .int(count)])
            )
        }
    }
}
