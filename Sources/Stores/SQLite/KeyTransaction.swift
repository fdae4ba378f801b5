internal import CSQLiteGuard
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Finds ids of other stores and asks for their owners, in one read transaction.
struct KeyTransaction {
    let db: Database
    let plan: SQLitePurgePlan
    let key: KeyPlan
    let target: TargetName
    let clock: TargetClock

    /// Finds the ids of the orders from the first on, as many as fit the time (at least one).
    ///
    /// - Throws: ``TargetError`` when the database cannot be read.
    func find(_ orders: ArraySlice<PurgeOrder>) throws -> [KeysAnswer] {
        try ConnectionChecks.reading(plan, db, target) {
            let query = try PreparedQuery(key.findSQL, on: db, target: target)
            defer { query.forgetUser() }
            let start = clock.uptime()
            var answers: [KeysAnswer] = []
            for order in orders {
                answers.append(try find(order, query))
                if clock.uptime() - start >= TargetLimits.transactionSoft { break }
            }
            return answers
        }
    }

    private func find(
        _ order: PurgeOrder,
        _ query: PreparedQuery
    ) throws(TargetError) -> KeysAnswer {
        guard let user = key.rule.idType.key(for: order.user) else { return .found([]) }
        try query.bind(user, cutoff: order.cutoff)
        return key.rule.valueType.ids(from: try query.values())
    }

    /// Tells for the ids from the first on whether others name them, as many as fit the time.
    ///
    /// - Parameters:
    ///   - ids: The ids.
    ///   - orders: Whose rows do not count, but for those behind the cutoff.
    /// - Returns: One answer for each id, at least one.
    /// - Throws: ``TargetError`` when the database cannot be read.
    func named(_ ids: ArraySlice<UserID>, besides orders: [PurgeOrder]) throws -> [Bool] {
        try ConnectionChecks.reading(plan, db, target) {
            let named = try PreparedQuery(key.namedSQL, on: db, target: target)
            let own = try PreparedQuery(key.ownSQL, on: db, target: target)
            defer {
                named.forgetUser()
                own.forgetUser()
            }
            let start = clock.uptime()
            var answers: [Bool] = []
            for id in ids {
                answers.append(try isNamed(id, besides: orders, named, own))
                if clock.uptime() - start >= TargetLimits.transactionSoft { break }
            }
            return answers
        }
    }

    /// Whether more rows name it than are the orders' own.
    private func isNamed(
        _ id: UserID,
        besides orders: [PurgeOrder],
        _ named: PreparedQuery,
        _ own: PreparedQuery
    ) throws(TargetError) -> Bool {
        guard let value = key.rule.valueType.key(for: id) else { return false }
        let limit = BoundValue.integer(Int64(orders.isEmpty ? 1 : TargetLimits.ownerRows + 1))
        try named.bind(value, at: PreparedQuery.Place.key)
        try named.bind(limit, at: PreparedQuery.Place.limit)
        let count = try named.integers()?.0 ?? 0
        guard !orders.isEmpty, count <= TargetLimits.ownerRows else { return count > 0 }
        var ownCount: Int64 = 0
        try own.bind(value, at: PreparedQuery.Place.key)
        try own.bind(limit, at: PreparedQuery.Place.limit)
        for order in orders {
            guard let user = key.rule.idType.key(for: order.user) else { continue }
            try own.bind(user, cutoff: order.cutoff)
            ownCount += try own.integers()?.0 ?? 0
        }
        return count > ownCount
    }
}
