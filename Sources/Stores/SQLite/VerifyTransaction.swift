internal import CSQLiteGuard
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Counts what is left of many orders in one read transaction.
struct VerifyTransaction {
    let db: Database
    let plan: SQLitePurgePlan
    let target: TargetName
    let clock: TargetClock

    /// Answers the first orders, as many as fit the time (at least one).
    ///
    /// - Throws: ``TargetError`` when the database cannot be read.
    func run(_ orders: ArraySlice<PurgeOrder>) throws -> [VerifyAnswer] {
        try ConnectionChecks.reading(plan, db, target) {
            let queries = try plan.tables.compactMap { plan in
                try VerifyQueries(plan, on: db, target: target)
            }
            defer { for table in queries { table.forgetUser() } }
            let start = clock.uptime()
            var answers: [VerifyAnswer] = []
            for order in orders {
                do throws(TargetError) {
                    answers.append(try count(order, queries))
                } catch {
                    // Its own call begins with it, and is told that it alone takes so long.
                    guard error.kind == .interrupted, !answers.isEmpty else { throw error }
                    break
                }
                if clock.uptime() - start >= TargetLimits.transactionSoft { break }
            }
            return answers
        }
    }

    /// Looks for what the counting in pieces does not: rows that the purge would not take.
    ///
    /// - Throws: ``TargetError`` when the database cannot be read.
    func obstacle(_ order: PurgeOrder) throws -> Obstacle? {
        try ConnectionChecks.reading(plan, db, target) {
            for table in plan.tables {
                guard let queries = try VerifyQueries(table, on: db, target: target) else {
                    continue
                }
                defer { queries.forgetUser() }
                if let obstacle = try queries.obstacle(order, at: clock.wall()) { return obstacle }
            }
            return nil
        }
    }

    private func count(
        _ order: PurgeOrder,
        _ queries: [VerifyQueries]
    ) throws(TargetError) -> VerifyAnswer {
        var remaining = 0
        var obstacle: Obstacle?
        for table in queries {
            if let key = table.plan.rule.idType.key(for: order.user) {
                try table.remaining.bind(key, cutoff: order.cutoff)
                remaining += Int(try table.remaining.integers()?.0 ?? 0)
            }
            guard obstacle == nil else { continue }
            obstacle = try table.obstacle(order, at: clock.wall())
        }
        guard remaining == 0 else { return .remaining(remaining) }
        return obstacle.map { .failure(.blocked($0)) } ?? .clean
    }
}

/// What is asked about one table, taken from the cache once per transaction.
private struct VerifyQueries {
    let plan: TablePlan
    let remaining: PreparedQuery
    private let nonCanonical: PreparedQuery?
    private let literal: PreparedQuery?
    private let future: PreparedQuery?

    /// - Returns: `nil` for a table whose rows are kept.
    init?(_ plan: TablePlan, on db: Database, target: TargetName) throws {
        guard let sql = plan.remainingSQL else { return nil }
        let query = { (sql: String) in
            try PreparedQuery(sql, constants: plan.constants, on: db, target: target)
        }
        self.plan = plan
        remaining = try query(sql)
        nonCanonical = try plan.nonCanonicalSQL.map(query)
        literal = try plan.literalSQL.map(query)
        future = try plan.futureSQL.map(query)
    }

    /// What forbids to call the user's rows erased though none is left that the purge would take.
    func obstacle(_ order: PurgeOrder, at now: WallTime) throws(TargetError) -> Obstacle? {
        let key = plan.rule.idType.key(for: order.user)
        let text = BoundValue.text(Array(order.user.exposeText().utf8))
        if try isFound(nonCanonical, key, order.cutoff) { return plan.rule.nonCanonical }
        if try isFound(literal, text, order.cutoff) { return plan.rule.nonCanonical }
        try future?.bind(.integer(now.unixMilliseconds), at: PreparedQuery.Place.horizon)
        return try isFound(future, key, order.cutoff) ? plan.rule.future : nil
    }

    private func isFound(
        _ query: PreparedQuery?,
        _ user: BoundValue?,
        _ cutoff: WallTime
    ) throws(TargetError) -> Bool {
        guard let query, let user else { return false }
        try query.bind(user, cutoff: cutoff)
        return try query.integers()?.0 ?? 0 > 0
    }

    func forgetUser() {
        for query in [remaining, nonCanonical, literal, future] { query?.forgetUser() }
    }
}
