internal import Lifecycle

/// How far one user's rows of a table are counted for a plan: to the end, in pieces so short that a
/// writer of a database with a rollback journal waits for none of them.
struct RowCount: Sendable {
    /// How the next piece goes.
    enum Way: Sendable {
        /// All rows in one statement, as far as the time allows: nearly everybody's.
        case whole
        /// Row by row of the user.
        case byUser
        /// Row by row of the table, where no index has the user's in order, so that the first of
        /// them would come only after all were looked at.
        case byTable
    }

    /// Rows between two looks at the clock; some ten microseconds.
    private static let stride = 100

    private(set) var way: Way
    /// Behind which row the next piece begins; empty at first.
    private(set) var position: [BoundValue] = []
    private(set) var isAtEnd = false
    /// Rows that want work or are kept, newer ones included.
    private(set) var found = 0
    private var newer = 0
    private var undated = 0

    init(_ way: Way = .whole) { self.way = way }

    /// Of a user who cannot have rows.
    static var none: RowCount {
        var count = RowCount()
        count.isAtEnd = true
        return count
    }

    /// When a piece is cut off.
    ///
    /// Going through the table, each row may be looked at for long, and must be.
    var deadline: Duration {
        way == .byTable ? TargetLimits.statementDeadline : TargetLimits.transaction
    }

    /// The statement of the next piece.
    func sql(_ counting: CountSQL) -> String {
        switch way {
        case .whole: counting.whole
        case .byUser: position.isEmpty ? counting.byUser.first : counting.byUser.next
        case .byTable: position.isEmpty ? counting.byTable.first : counting.byTable.next
        }
    }

    /// Counts the next piece; what is cut off is counted again in smaller ones.
    ///
    /// - Throws: ``TargetError``.
    mutating func advance(_ query: PreparedQuery, _ clock: TargetClock) throws(TargetError) {
        let before = position
        do throws(TargetError) {
            guard way == .whole else { return try walk(query, clock) }
            let (found, newer, undated) = try query.integers() ?? (0, 0, 0)
            (self.found, self.newer, self.undated) = (Int(found), Int(newer), Int(undated))
            isAtEnd = true
        } catch {
            guard error.kind == .interrupted, way != .byTable else { throw error }
            cutOff(behind: before)
        }
    }

    /// Chooses how to go on after a piece that took too long.
    ///
    /// - Parameter place: Where the piece began.
    mutating func cutOff(behind place: [BoundValue]) {
        if way == .whole {
            way = .byUser
        } else if position == place {
            way = .byTable
        }
    }

    private mutating func walk(
        _ query: PreparedQuery,
        _ clock: TargetClock
    ) throws(TargetError) {
        let start = clock.uptime()
        var (rows, found, newer, undated) = (0, 0, 0, 0)
        var isSlow: Bool?
        let isLast = try query.walk { kind in
            rows += 1
            found += kind > 0 ? 1 : 0
            newer += kind == 2 ? 1 : 0
            undated += kind == 3 ? 1 : 0
            guard rows.isMultiple(of: Self.stride) else { return true }
            position = query.key()
            self.found += found
            self.newer += newer
            self.undated += undated
            (found, newer, undated) = (0, 0, 0)
            let took = clock.uptime() - start
            isSlow = isSlow ?? (took >= TargetLimits.chunkTransactionSoft)
            return took < TargetLimits.transactionSoft
        }
        if isLast {
            self.found += found
            self.newer += newer
            self.undated += undated
            isAtEnd = true
        }
        // So late a first row means that all of them were sorted before it, as for each piece.
        if isSlow == true { way = .byTable }
    }

    /// The line of the plan.
    func item(of table: TablePlan) -> PlanItem {
        let isKept = table.rule.action == .keep
        return PlanItem(
            name: table.table,
            action: table.rule.planAction,
            reason: table.rule.reason,
            count: isKept ? found : found - newer,
            newerCount: isKept ? 0 : newer,
            undatedCount: isKept ? 0 : undated,
            hasNoTimestamps: table.rule.hasNoTimestamps
        )
    }
}
