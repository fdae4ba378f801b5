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
        let queries = try plan.tables.compactMap(queries)
        defer {
            for (_, remaining, misspelled) in queries {
                remaining.forgetUser()
                misspelled?.forgetUser()
            }
        }
        let start = clock.uptime()
        var answers: [VerifyAnswer] = []
        for order in orders {
            answers.append(try count(order, queries))
            if clock.uptime() - start >= TargetLimits.transactionSoft { break }
        }
        try ConnectionChecks.requireSameFile(db, target)
        return answers
    }

    /// What is asked about a table; `nil` when its rows are kept.
    private func queries(
        _ table: TablePlan
    ) throws -> (table: TablePlan, remaining: PreparedQuery, misspelled: PreparedQuery?)? {
        guard let sql = table.remainingSQL else { return nil }
        let query = { (sql: String) in
            try PreparedQuery(sql, constants: table.constants, on: db, target: target)
        }
        return (table, try query(sql), try table.misspelledSQL.map(query))
    }

    private func count(
        _ order: PurgeOrder,
        _ queries: [(table: TablePlan, remaining: PreparedQuery, misspelled: PreparedQuery?)]
    ) throws(TargetError) -> VerifyAnswer {
        var remaining = 0
        var misspelled: Obstacle?
        for (table, query, other) in queries {
            guard let key = table.rule.idType.key(for: order.user) else { continue }
            try query.bind(key, fence: order.fence)
            remaining += Int(try query.integers()?.0 ?? 0)
            guard misspelled == nil, let other else { continue }
            try other.bind(key, fence: order.fence)
            if try other.integers()?.0 ?? 0 > 0 { misspelled = table.rule.misspelled }
        }
        guard remaining == 0 else { return .remaining(remaining) }
        return misspelled.map { .trouble(.blocked($0)) } ?? .clean
    }
}
