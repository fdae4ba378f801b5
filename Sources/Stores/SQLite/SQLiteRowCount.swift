internal import Lifecycle

/// How far one user's rows of a table are counted for a plan: to the end, in pieces so short that a
/// writer of a database with a rollback journal waits for none of them.
struct SQLiteRowCount: Sendable {
    /// How the next piece goes.
    enum Way: Sendable {
        /// All rows in one statement, as far as the time allows: nearly all users'.
        case whole
        /// Row by row of the user.
        case byUser
        /// Row by row of the table, where no index has the user's in order.
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
    static var none: SQLiteRowCount {
        var count = SQLiteRowCount()
        count.isAtEnd = true
        return count
    }

    /// When a piece is cut off; reading the whole table takes as long as it takes.
    var deadline: Duration {
        way == .byTable ? SQLiteLimits.statementDeadline : SQLiteLimits.transaction
    }

    /// The statement of the next piece.
    func sql(_ counting: SQLiteCounting) -> String {
        switch way {
        case .whole: counting.whole
        case .byUser: position.isEmpty ? counting.byUser.first : counting.byUser.next
        case .byTable: position.isEmpty ? counting.byTable.first : counting.byTable.next
        }
    }

    /// Counts the next piece; what is cut off is counted again in smaller ones.
    mutating func advance(_ query: SQLiteQuery, _ clock: StoreClock) throws(SQLError) {
        let before = position
        do throws(SQLError) {
            guard way == .whole else { return try walk(query, clock) }
            let (found, newer, undated) = try query.integers() ?? (0, 0, 0)
            (self.found, self.newer, self.undated) = (Int(found), Int(newer), Int(undated))
            isAtEnd = true
        } catch {
            guard error.kind == .timeout, way != .byTable else { throw error }
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

    private mutating func walk(_ query: SQLiteQuery, _ clock: StoreClock) throws(SQLError) {
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
            isSlow = isSlow ?? (took >= SQLiteLimits.chunkTransactionSoft)
            return took < SQLiteLimits.transactionSoft
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

    func item(of table: TablePlan<SQLiteDialect>) -> PlanItem? {
        table.item(found: found, newer: newer, undated: undated)
    }
}
