internal import Engine
internal import GRDB
internal import Lifecycle

/// Counting in pieces, for a user whose rows do not fit one transaction.
extension SQLiteTarget {
    /// Looks at the user's rows table by table, each in short read transactions that carry on where
    /// the last one ended.
    func verifyInPieces(_ order: PurgeOrder) async -> VerifyAnswer {
        var schemaTries = 0
        while true {
            do {
                let (queue, plan) = try await ready()
                for table in plan.tables {
                    guard let checking = table.checking else { continue }
                    let left = try await count(
                        order,
                        from: RowCount(.byUser),
                        of: table,
                        checking,
                        (queue, plan),
                        until: { $0.found > 0 }
                    )
                    guard left.found == 0 else { return .remaining(left.found) }
                }
                let (target, clock) = (name, clock)
                let obstacle = try await queue.writeWithoutTransaction { db in
                    try VerifyTransaction(db: db, plan: plan, target: target, clock: clock)
                        .obstacle(order)
                }
                return obstacle.map { .failure(.blocked($0)) } ?? .clean
            } catch {
                let error = TargetError(error, target: name)
                forget(after: error)
                schemaTries += 1
                guard error.kind == .schemaChanged, schemaTries <= TargetLimits.schemaRetries
                else { return .failure(error.failure) }
            }
        }
    }

    // Counts a user's rows of one table, each piece in a transaction of its own; `isEnough` may end
    // the count before all rows are counted.
    func count(
        _ order: PurgeOrder,
        from start: RowCount,
        of table: TablePlan,
        _ counting: CountSQL,
        _ ready: (queue: DatabaseQueue, plan: SQLitePurgePlan),
        until isEnough: (RowCount) -> Bool = { _ in false }
    ) async throws -> RowCount {
        var count = start
        let (target, clock, plan) = (name, clock, ready.plan)
        while !count.isAtEnd, !isEnough(count) {
            let before = count
            count = try await ready.queue.writeWithoutTransaction { db in
                try PlanTransaction(db: db, plan: plan, target: target, clock: clock)
                    .advance(before, of: table, counting, for: order)
            }
            guard !count.isAtEnd else { break }
            try await clock.rest(TargetLimits.restBetweenChunks)
        }
        return count
    }
}
