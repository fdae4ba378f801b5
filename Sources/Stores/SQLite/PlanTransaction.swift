internal import CSQLiteGuard
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Counts one user's rows of one table, in a read transaction: for a plan, or for a verification
/// that takes too long in one piece.
struct PlanTransaction {
    let db: Database
    let plan: SQLitePurgePlan
    let target: TargetName
    let clock: TargetClock

    /// Counts the next piece.
    ///
    /// - Parameters:
    ///   - before: How far it was.
    ///   - table: The table.
    ///   - counting: Its statements, of the plan or of the verification.
    ///   - order: Whose rows.
    /// - Returns: How far it is now.
    /// - Throws: ``TargetError`` when the database cannot be read or its schema has changed.
    func advance(
        _ before: RowCount,
        of table: TablePlan,
        _ counting: CountSQL,
        for order: PurgeOrder
    ) throws -> RowCount {
        try ConnectionChecks.reading(plan, db, target, deadline: before.deadline) {
            guard let key = table.rule.idType.key(for: order.user) else { return .none }
            let query = try PreparedQuery(
                before.sql(counting),
                constants: table.constants,
                on: db,
                target: target
            )
            defer { query.forgetAll() }
            try query.bind(key, cutoff: order.cutoff)
            for (offset, value) in before.position.enumerated() {
                try query.bind(value, at: counting.firstPlace + Int32(offset))
            }
            var after = before
            try after.advance(query, clock)
            return after
        }
    }
}
