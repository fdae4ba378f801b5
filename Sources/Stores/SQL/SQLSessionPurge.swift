import Engine
import Lifecycle

/// Purges one user at a server; the caller begins and commits, and rests between transactions.
///
/// A user with few rows goes in one transaction, mostly with others. One with many goes in several,
/// and what an interruption leaves is found again by the same statements.
struct SQLSessionPurge<Session: SQLSession> {
    let session: Session
    let plan: SQLPlan<Session.Dialect>
    let order: PurgeOrder
    let store: StoreName
    let uptime: @Sendable () -> Duration
    let masks: ServerMasks

    private(set) var tableIndex = 0
    private(set) var counter: TableCounter?
    private(set) var chunkRows = SQLLimits.chunkRows
    private(set) var chunkCount = 0
    var counts = PurgeCounts()
    private(set) var released: [TableRule: Int] = [:]
    private(set) var isBegun = false
    /// What led to the rows of rules.
    private(set) var reached: [TableRule: ChainStart.Lead]

    /// The table that is worked on, or was when it failed; `nil` behind the last.
    var table: String? { tableIndex < plan.tables.count ? plan.tables[tableIndex].table : nil }

    private(set) var isOver = false

    /// Works in the open transaction until the user is done, or a chunk is.
    ///
    /// - Returns: `nil` when there is more to do in further transactions.
    /// - Throws: ``SQLError``; the transaction is to be rolled back then.
    mutating func step() throws(SQLError) -> PurgeAnswer? {
        isOver = try work()
        guard isOver else { return nil }
        guard counts.heldCount > 0 else { return .done(counts) }
        return .held(counts, under: Set(order.holds.map(\.name)))
    }

    /// False when the transaction is to be committed with work left.
    private mutating func work() throws(SQLError) -> Bool {
        try begin()
        while tableIndex < plan.tables.count {
            let table = plan.tables[tableIndex]
            let action = table.rule.receiptAction
            guard let user = table.root.key(for: order.user) else {
                try close(TableCounter(table: table.table, action: action.of(.noSuchID)))
                continue
            }
            if table.isReleased {
                var counter = TableCounter(table: table.table, action: action)
                counter.rowCount = released[table.rule] ?? 0
                try close(counter)
                continue
            }
            var parameters = SQLParameters.of(user, time: order.cutoff)
            if counter == nil {
                var found = [0, 0, 0]
                if table.isCountedFirst {
                    found = try session.integers(table.countSQL, parameters)
                }
                let new = TableCounter(of: table.rule, (found[0], found[1], found[2]))
                if table.isCountedFirst, !table.rule.action.changesRows || found[0] == found[1] {
                    try close(new)
                    continue
                }
                counter = new
            }
            parameters.limit = chunkRows
            let begin = uptime()
            let chunk = try session.change(table, parameters, masks)
            chunkRows = ChunkPace.serverRows(after: chunk.asked, took: uptime() - begin)
            counter?.rowCount += chunk.count
            for (release, count) in zip(table.releases, chunk.released) {
                released[release.rule, default: 0] += count
            }
            chunkCount += 1
            guard chunkCount < SQLLimits.chunks else {
                // A trigger takes back what is done, or all of it would be done by now.
                let trigger = Obstacle(.trigger, at: table.table)
                throw SQLError(.constraint, store: store, trigger)
            }
            // Leaves may be few, and more of them behind these.
            guard table.isLeafFirst ? chunk.count == 0 : chunk.count < chunk.asked else {
                return false
            }
            if let counter { try close(counter) }
        }
        counts.entries += try session.held(order, plan)
        return true
    }

    /// Rows that go behind those that lead to them are asked for before these go.
    private mutating func begin() throws(SQLError) {
        guard !isBegun else { return }
        reached.merge(try session.ledByAccount(order, plan)) { before, _ in before }
        for table in plan.tables where table.isReleased {
            counts.entries += try session.unreached(table, order, &reached)
        }
        isBegun = true
    }

    private mutating func close(_ counter: TableCounter) throws(SQLError) {
        counts.entries += counter.entries
        let table = plan.tables[tableIndex]
        if !table.isReleased {
            counts.entries += try session.unreached(table, order, &reached)
        }
        self.counter = nil
        chunkRows = SQLLimits.chunkRows
        tableIndex += 1
    }
}

extension SQLSession {
    /// Runs `body` in a transaction that writes, and rolls it back where it fails.
    ///
    /// - Throws: ``SQLError``, with the table that was worked on.
    func writing(
        _ plan: SQLPlan<Dialect>,
        _ purge: inout SQLSessionPurge<Self>,
        _ body: (inout SQLSessionPurge<Self>) throws(SQLError) -> Void
    ) throws(SQLError) {
        do {
            try run(Self.beginPurge)
            if plan.isCircular { try run(Self.deferConstraints) }
            try body(&purge)
            try end(.commit)
        } catch {
            if error.rest != .nothing { try end(.rollback) }
            guard error.kind != .oversized else { throw error.sized(at: purge.table) }
            throw try named(error, at: purge.table)
        }
    }
}
