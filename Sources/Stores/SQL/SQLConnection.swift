import Engine
import Lifecycle

/// The parameters of a statement, see ``SQLDialect``.
struct SQLParameters {
    var user: BoundValue?
    var time: WallTime?
    var limit: Int?
    var key: BoundValue?
    /// Of the other columns of a composite id.
    var parts: [BoundValue] = []

    /// Those of one user.
    static func of(_ user: RootKey, time: WallTime?) -> SQLParameters {
        SQLParameters(user: user.user, time: time, parts: user.parts)
    }

    /// In their order.
    var values: [BoundValue?] {
        [
            user, time.map { .integer($0.unixMilliseconds) }, limit.map { .integer(Int64($0)) },
            key,
        ] + parts
    }
}

/// What reads a database by the statements of a plan.
protocol SQLConnection: SendableMetatype {
    associatedtype Dialect: SQLDialect

    /// All rows; values are typed, or texts.
    func rows(_ sql: String, _ parameters: SQLParameters) throws(SQLError) -> [[BoundValue?]]

    /// The first number of the first row; 0 without one.
    ///
    /// A verification asks for several of each user.
    func count(_ sql: String, _ parameters: SQLParameters) throws(SQLError) -> Int
}

extension SQLConnection {
    /// All rows; an error about a size names the table.
    func rows(
        _ sql: String,
        _ parameters: SQLParameters,
        in table: String?
    ) throws(SQLError) -> [[BoundValue?]] {
        do throws(SQLError) { return try rows(sql, parameters) } catch {
            throw error.sized(at: table)
        }
    }

    /// The numbers of the first row, NULL as 0; at least three, zeros where there are none.
    func integers(
        _ sql: String,
        _ parameters: SQLParameters = SQLParameters(),
        in table: String? = nil
    ) throws(SQLError) -> [Int] {
        let numbers = try rows(sql, parameters, in: table).first?.map { $0?.number ?? 0 } ?? []
        return numbers + Array(repeating: 0, count: max(0, 3 - numbers.count))
    }

    func count(_ sql: String, _ parameters: SQLParameters) throws(SQLError) -> Int {
        try integers(sql, parameters).first ?? 0
    }

    func count(_ sql: String) throws(SQLError) -> Int { try count(sql, SQLParameters()) }

    /// An error about a size names the table.
    func count(
        _ sql: String,
        _ parameters: SQLParameters,
        in table: String
    ) throws(SQLError) -> Int {
        do throws(SQLError) { return try count(sql, parameters) } catch {
            throw error.sized(at: table)
        }
    }

    // MARK: Verification

    /// Counts what is left of an order's rows, unless it was counted before, and finds what forbids
    /// to call them erased.
    func verify(
        _ order: PurgeOrder,
        _ plan: SQLPlan<Dialect>,
        at now: WallTime,
        counted: Int? = nil
    ) throws(SQLError) -> VerifyAnswer {
        var remaining = counted ?? 0
        var obstacle: Obstacle?
        var isCause = false
        for table in plan.tables {
            let isSuspect = try counted == nil ? self.isSuspect(order, table) : true
            if counted == nil, isSuspect, let sql = table.remainingSQL,
                let user = table.root.key(for: order.user)
            {
                remaining += try count(sql, .of(user, time: order.cutoff), in: table.table)
            }
            guard !isCause,
                let found = try self.obstacle(order, table, at: now, isSuspect: isSuspect)
            else { continue }
            isCause = table.makesRowsWait(found)
            if isCause || obstacle == nil { obstacle = found }
        }
        guard remaining == 0 || isCause else { return .remaining(remaining) }
        return obstacle.map { .failure(.blocked($0)) } ?? .clean
    }

    /// Whether rows may be left, or have the id in another spelling.
    private func isSuspect(
        _ order: PurgeOrder,
        _ table: TablePlan<Dialect>
    ) throws(SQLError) -> Bool {
        guard let sql = table.suspectSQL, let user = table.root.key(for: order.user) else {
            return true
        }
        return try count(sql, .of(user, time: order.cutoff), in: table.table) > 0
    }

    /// What forbids to call a user's rows of a table erased though the purge would take none.
    private func obstacle(
        _ order: PurgeOrder,
        _ table: TablePlan<Dialect>,
        at now: WallTime,
        isSuspect: Bool
    ) throws(SQLError) -> Obstacle? {
        let user = table.root.key(for: order.user)
        if isSuspect, let sql = table.nonCanonicalSQL, let user,
            try count(sql, .of(user, time: order.cutoff), in: table.table) > 0
        {
            return table.rule.nonCanonical
        }
        if let sql = table.literalSQL, let text = table.root.submitted(order.user),
            try count(sql, .of(text, time: order.cutoff), in: table.table) > 0
        {
            return table.rule.nonCanonical
        }
        guard let user else { return nil }
        for part in table.unclearParts {
            let found = try count(part.sql, .of(user, time: order.cutoff), in: table.table)
            if found > 0 { return Obstacle(.spelling, at: table.table, name: part.column) }
        }
        guard let sql = table.futureSQL else { return nil }
        let datesUpTo = min(order.datesUpTo ?? now, now)
        let found = try count(sql, .of(user, time: datesUpTo), in: table.table)
        return found > 0 ? table.rule.future : nil
    }

    /// Looks for a value of the user in another spelling, to which nothing leads after the work.
    ///
    /// - Returns: What the receipt says of rules for which that takes too long.
    /// - Throws: ``SQLError``, with the obstacle where there are such rows.
    func look(
        at order: PurgeOrder,
        _ plan: SQLPlan<Dialect>,
        _ store: StoreName
    ) throws(SQLError) -> [PurgeCounts.Entry] {
        var unsearched: [PurgeCounts.Entry] = []
        for table in plan.tables {
            guard let sql = table.spelledSQL, let user = table.root.key(for: order.user)
            else { continue }
            do throws(SQLError) {
                let found = try count(sql, .of(user, time: order.cutoff), in: table.table)
                guard found > 0 else { continue }
                throw SQLError(.constraint, store: store, table.rule.nonCanonical)
            } catch {
                guard error.kind == .timeout else { throw error }
                let action = PurgeCounts.Action.unsearched(table.rule.column)
                unsearched.append(.init(name: table.table, action: action, rowCount: 0))
            }
        }
        return unsearched
    }

    /// What stays of a user under holds.
    func held(
        _ order: PurgeOrder,
        _ plan: SQLPlan<Dialect>
    ) throws(SQLError) -> [PurgeCounts.Entry] {
        var entries: [PurgeCounts.Entry] = []
        for table in plan.tables {
            guard let sql = table.heldSQL, let user = table.root.key(for: order.user)
            else { continue }
            let count = try count(sql, .of(user, time: order.cutoff), in: table.table)
            guard count > 0 else { continue }
            entries.append(.init(name: table.table, action: .held, rowCount: count))
        }
        return entries
    }

    // MARK: Keys

    /// The ids of another store in a user's rows.
    func ids(_ key: KeyPlan, of order: PurgeOrder) throws(SQLError) -> KeysAnswer {
        guard let user = key.root.key(for: order.user) else { return .found([]) }
        let found = try rows(key.findSQL, .of(user, time: order.cutoff), in: key.table)
        return key.rule.valueType.ids(from: found.map { $0.first ?? nil })
    }

    /// Whether more rows name an id than are the orders' own.
    func isNamed(
        _ id: UserID,
        _ key: KeyPlan,
        besides orders: [PurgeOrder]
    ) throws(SQLError) -> Bool {
        guard let value = key.rule.valueType.key(for: id) else { return false }
        var parameters = SQLParameters(key: value)
        parameters.limit = orders.isEmpty ? 1 : SQLLimits.ownerRows + 1
        let all = try count(key.namedSQL, parameters, in: key.table)
        guard !orders.isEmpty, all <= SQLLimits.ownerRows else { return all > 0 }
        var ownCount = 0
        for order in orders {
            guard let user = key.root.key(for: order.user) else { continue }
            (parameters.user, parameters.time) = (user.user, order.cutoff)
            parameters.parts = user.parts
            ownCount += try count(key.ownSQL, parameters, in: key.table)
        }
        return all > ownCount
    }
}

extension BoundValue {
    /// A number, also one that a server wrote as text.
    var number: Int {
        switch self {
        case .integer(let number): Int(number)
        case .real(let number): Int(exactly: number.rounded()) ?? 0
        case .text(let bytes): Int(String(decoding: bytes, as: UTF8.self)) ?? 0
        case .blob: 0
        }
    }
}

extension [[String]] {
    /// Rows that follow each other and begin with the same values, together.
    func runs(of count: Int) -> [[[String]]] {
        var runs: [[[String]]] = []
        for row in self {
            if let last = runs.last?.last, last.prefix(count) == row.prefix(count) {
                runs[runs.count - 1].append(row)
            } else {
                runs.append([row])
            }
        }
        return runs
    }
}
