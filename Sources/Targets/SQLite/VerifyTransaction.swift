internal import CSQLiteGuard
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Counts what is left of many orders in one read transaction.
struct VerifyTransaction {
    let db: Database
    let plan: PurgePlan
    let target: TargetName
    let clock: TargetClock

    /// Answers the orders from `first` on, as many as fit the time (at least one).
    ///
    /// - Throws: ``TargetError`` when the database cannot be read.
    func run(_ orders: ArraySlice<PurgeOrder>) throws -> [VerifyAnswer] {
        unsafe csqliteguard_deadline_begin(
            db.sqliteConnection,
            TargetLimits.statementDeadline.milliseconds
        )
        defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
        try ConnectionChecks.execute("BEGIN", db, target)
        defer { _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil) }
        try ConnectionChecks.requireSamePlan(plan, db, target)
        let queries = try plan.tables.compactMap { table -> (TablePlan, PreparedQuery)? in
            guard let sql = table.remainingSQL else { return nil }
            let query = try PreparedQuery(
                sql,
                constants: table.constants,
                on: db,
                target: target
            )
            return (table, query)
        }
        defer { for (_, query) in queries { query.forgetUser() } }
        let start = clock.uptime()
        var answers: [VerifyAnswer] = []
        for order in orders {
            answers.append(try count(order, queries))
            if clock.uptime() - start >= TargetLimits.transactionSoft { break }
        }
        try ConnectionChecks.requireSameFile(db, target)
        return answers
    }

    private func count(
        _ order: PurgeOrder,
        _ queries: [(TablePlan, PreparedQuery)]
    ) throws(TargetError) -> VerifyAnswer {
        var remaining = 0
        for (table, query) in queries {
            guard let key = table.rule.idType.key(for: order.user) else { continue }
            try query.bind(key, fence: order.fence)
            remaining += Int(try query.integers()?.0 ?? 0)
        }
        return remaining == 0 ? .clean : .remaining(remaining)
    }
}
