internal import Engine
internal import GRDB
internal import Lifecycle

/// The verification of a user whose rows do not fit one transaction.
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
                    let left = try await count(order, table, checking, (queue, plan))
                    guard left == 0 else { return .remaining(left) }
                }
                let (target, clock) = (name, clock)
                let obstacle = try await queue.writeWithoutTransaction { db in
                    try VerifyTransaction(db: db, plan: plan, target: target, clock: clock)
                        .obstacle(order)
                }
                return obstacle.map { .trouble(.blocked($0)) } ?? .clean
            } catch {
                let error = TargetError(error, target: name)
                forget(after: error)
                schemaTries += 1
                guard error.kind == .schemaChanged, schemaTries <= TargetLimits.schemaRetries
                else { return .trouble(error.trouble) }
            }
        }
    }

    private func count(
        _ order: PurgeOrder,
        _ table: TablePlan,
        _ checking: CountSQL,
        _ ready: (queue: DatabaseQueue, plan: PurgePlan)
    ) async throws -> Int {
        var count = RowCount(.byUser)
        let (target, clock, plan) = (name, clock, ready.plan)
        while !count.isAtEnd, count.found == 0 {
            let before = count
            count = try await ready.queue.writeWithoutTransaction { db in
                try PlanTransaction(db: db, plan: plan, target: target, clock: clock)
                    .advance(before, of: table, checking, for: order)
            }
            guard !count.isAtEnd else { break }
            try await clock.rest(TargetLimits.restBetweenChunks)
        }
        return count.found
    }
}
