internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Finds out which constraint or trigger refused a change; SQLite says only of what kind it is.
///
/// Reads the schema, and which table has rows in the way. The text of RAISE() may hold values and
/// is never used.
struct SQLiteObstacles {
    /// A foreign key that can refuse to let rows of a table go.
    struct Blocker: Sendable {
        let table: String
        let columns: [String]
        /// Counts rows of a user that are referred to by this key.
        let sql: String

        var obstacle: Obstacle {
            Obstacle(.foreignKey, at: table, name: columns.joined(separator: ", "))
        }
    }

    let reader: SQLiteReader
    let plan: SQLPlan<SQLiteDialect>

    /// Adds the name to an error that one statement met, while its transaction is open.
    func named(
        _ error: SQLError,
        at table: TablePlan<SQLiteDialect>,
        _ key: RootKey,
        cutoff: WallTime
    ) -> SQLError {
        guard error.kind == .constraint, error.obstacle == nil else {
            return error.sized(at: table.table)
        }
        var error = error
        switch error.resultCode {
        case Self.foreignKeyCode: error.obstacle = blocker(of: table, key, cutoff)
        case Self.triggerCode: error.obstacle = trigger(of: table.table)
        default: error.obstacle = Obstacle(.constraint, at: table.table)
        }
        return error
    }

    /// Adds the name to an error that a commit met, while its transaction is open.
    func named(_ error: SQLError) -> SQLError {
        guard error.kind == .constraint, error.resultCode == Self.foreignKeyCode else {
            return error
        }
        var error = error
        error.obstacle = Obstacle(.foreignKey)
        for blocker in plan.tables.flatMap(\.work.blockers) {
            if isViolated(blocker) {
                error.obstacle = blocker.obstacle
                break
            }
        }
        return error
    }

    /// What SQLite itself names: `UNIQUE constraint failed: posts.slug`, of the schema alone.
    static func constraint(named text: String, _ resultCode: Int32) -> Obstacle? {
        guard resultCode & 0xff == SQLITE_CONSTRAINT,
            ![foreignKeyCode, triggerCode].contains(resultCode),
            let start = text.firstRange(of: "constraint failed: ")
        else { return nil }
        return Obstacle(.constraint, name: String(text[start.upperBound...].prefix(nameMax)))
    }

    /// Extended result codes, whose macros Swift does not import (sqlite.org/rescode.html).
    private static let foreignKeyCode = SQLITE_CONSTRAINT | 3 << 8
    private static let triggerCode = SQLITE_CONSTRAINT | 7 << 8

    /// Triggers that are named where any of them could be it.
    private static let triggersMax = 8

    /// Characters of a name; a CHECK without one is told by its expression.
    private static let nameMax = 200

    // MARK: Looking

    /// Whatever goes wrong here leaves the obstacle without a name.
    private func blocker(
        of table: TablePlan<SQLiteDialect>,
        _ key: RootKey,
        _ cutoff: WallTime
    ) -> Obstacle {
        do {
            let parameters = SQLParameters.of(key, time: cutoff)
            let found = try table.work.blockers.first { try reader.count($0.sql, parameters) > 0 }
            return found?.obstacle ?? Obstacle(.foreignKey, at: table.table)
        } catch {
            return Obstacle(.foreignKey, at: table.table)
        }
    }

    private func isViolated(_ blocker: Blocker) -> Bool {
        do {
            let sql = "SELECT 1 FROM pragma_foreign_key_check(?) LIMIT 1"
            return try Int.fetchOne(reader.db, sql: sql, arguments: [blocker.table]) != nil
        } catch {
            // It took too long, or the schema is damaged: another key may be named.
            return false
        }
    }

    /// The trigger that raises errors: one of the table if there is any; all of them if several
    /// could be it.
    private func trigger(of table: String) -> Obstacle {
        let sql = """
            SELECT name, tbl_name FROM main.sqlite_schema
            WHERE type = 'trigger' AND instr(upper(sql), 'RAISE') > 0
            ORDER BY lower(tbl_name) <> lower(?), lower(tbl_name), name
            LIMIT \(Self.triggersMax)
            """
        do {
            let rows = try Row.fetchAll(reader.db, sql: sql, arguments: [table])
            guard let first = rows.first else { return Obstacle(.trigger, at: table) }
            let place: String = first[1]
            let isOwn = place.lowercased() == table.lowercased()
            // Reached by a cascade, those of several tables: none of them is named.
            guard isOwn || rows.allSatisfy({ $0[1] == place }) else {
                return Obstacle(.trigger, at: table)
            }
            let others: [String] = rows.dropFirst().filter { $0[1] == place }.map { $0[0] }
            return Obstacle(.trigger, at: place, name: first[0], others: others)
        } catch {
            return Obstacle(.trigger, at: table)
        }
    }
}
