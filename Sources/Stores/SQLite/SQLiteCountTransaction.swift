import Engine
import GRDB
import Lifecycle

/// Counts one user's rows of one table in pieces: for a plan, or for a verification that takes too
/// long at once.
struct SQLiteCountTransaction {
    let reader: SQLiteReader
    let plan: SQLPlan<SQLiteDialect>
    let clock: TargetClock

    /// Counts the next piece, in a read transaction; returns how far it is now.
    func advance(
        _ before: SQLiteRowCount,
        of table: TablePlan<SQLiteDialect>,
        _ counting: SQLiteCounting,
        for order: PurgeOrder
    ) throws(SQLError) -> SQLiteRowCount {
        try reader.reading(plan, deadline: before.deadline) {
            () throws(SQLError) -> SQLiteRowCount in
            guard let key = table.root.key(for: order.user) else { return .none }
            let query = try SQLiteQuery(before.sql(counting), on: reader.db, target: reader.target)
            defer { query.forget() }
            try query.bind(.of(key, time: order.cutoff))
            for (offset, value) in before.position.enumerated() {
                try query.bind(value, at: SQLiteCounting.firstPlace + Int32(offset))
            }
            var after = before
            try after.advance(query, clock)
            return after
        }
    }
}
