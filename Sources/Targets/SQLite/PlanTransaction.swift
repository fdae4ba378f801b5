internal import CSQLiteGuard
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Counts what a purge would do to one user's rows of one table, in a read transaction.
struct PlanTransaction {
    let db: Database
    let plan: PurgePlan
    let target: TargetName

    /// Counts up to ``TargetLimits/planRows`` rows.
    ///
    /// - Throws: ``TargetError`` when the database cannot be read or its schema has changed.
    func count(_ table: TablePlan, for order: PurgeOrder) throws -> PlanItem {
        guard let key = table.rule.idType.key(for: order.user) else {
            return item(table, found: 0, fenced: 0)
        }
        unsafe csqliteguard_deadline_begin(
            db.sqliteConnection,
            TargetLimits.statementDeadline.milliseconds
        )
        defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
        try ConnectionChecks.execute("BEGIN", db, target)
        defer { _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil) }
        try ConnectionChecks.requireSamePlan(plan, db, target)
        let query = try PreparedQuery(
            table.planSQL,
            constants: table.constants,
            on: db,
            target: target
        )
        defer { query.forgetUser() }
        try query.bind(key, fence: order.fence)
        let (found, fenced, _) = try query.integers() ?? (0, 0, 0)
        return item(table, found: Int(found), fenced: Int(fenced))
    }

    private func item(_ table: TablePlan, found: Int, fenced: Int) -> PlanItem {
        let isKept = table.rule.action == .keep
        let seen = min(found, TargetLimits.planRows)
        return PlanItem(
            name: table.table,
            action: table.rule.planAction,
            reason: table.rule.reason,
            count: isKept ? seen : max(0, seen - fenced),
            isBounded: found > TargetLimits.planRows,
            fencedCount: isKept ? 0 : fenced
        )
    }
}
