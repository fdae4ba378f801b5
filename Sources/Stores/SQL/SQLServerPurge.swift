import Engine
import Lifecycle

/// Purges one user at a server, a transaction at a time; the caller rests between them.
///
/// A user with few rows goes in one transaction. One with many goes in several, and what an
/// interruption leaves is found again by the same statements.
struct SQLServerPurge<Session: SQLSession> {
    let session: Session
    let plan: SQLPlan<Session.Dialect>
    let order: PurgeOrder
    let target: TargetName
    let uptime: @Sendable () -> Duration
    let masks: ServerMasks

    private var tableIndex = 0
    private var counter: TableCounter?
    private var chunkRows = SQLLimits.chunkRows
    private var chunkCount = 0
    private var counts = PurgeCounts()

    init(
        session: Session,
        plan: SQLPlan<Session.Dialect>,
        order: PurgeOrder,
        target: TargetName,
        uptime: @escaping @Sendable () -> Duration,
        masks: ServerMasks
    ) {
        self.session = session
        self.plan = plan
        self.order = order
        self.target = target
        self.uptime = uptime
        self.masks = masks
    }

    /// Runs the next transaction.
    ///
    /// - Returns: `nil` when there is more to do.
    /// - Throws: ``SQLError``; the transaction is rolled back then.
    mutating func step() throws(SQLError) -> PurgeAnswer? {
        do {
            try session.run(Session.beginPurge)
            if plan.isCircular { try session.run(Session.deferConstraints) }
            let isOver = try work()
            try session.run("COMMIT")
            guard isOver else { return nil }
            guard counts.heldCount > 0 else { return .done(counts) }
            return .held(counts, under: Set(order.holds.map(\.name)))
        } catch {
            if error.rest != .nothing { try session.run("ROLLBACK") }
            let table = tableIndex < plan.tables.count ? plan.tables[tableIndex].table : nil
            throw try session.named(error, at: table)
        }
    }

    /// False when the transaction is to be committed with work left.
    private mutating func work() throws(SQLError) -> Bool {
        while tableIndex < plan.tables.count {
            let table = plan.tables[tableIndex]
            let action = table.rule.receiptAction
            guard let user = table.rule.idType.key(for: order.user) else {
                close(TableCounter(table: table.table, action: action + ", no such id"))
                continue
            }
            var parameters = SQLParameters(user: user, time: order.cutoff)
            if counter == nil {
                let found = try session.integers(table.countSQL, parameters)
                var new = TableCounter(table: table.table, action: action)
                if table.rule.action == .keep {
                    new.rowCount = found[0]
                } else {
                    (new.newerCount, new.undatedCount) = (found[1], found[2])
                }
                guard table.rule.action != .keep, found[0] > found[1] else {
                    close(new)
                    continue
                }
                counter = new
            }
            parameters.limit = chunkRows
            let begin = uptime()
            let chunk = try session.change(table, parameters, masks)
            chunkRows = ChunkPace.rows(after: chunk.asked, took: uptime() - begin)
            counter?.rowCount += chunk.count
            chunkCount += 1
            guard chunkCount < SQLLimits.chunks else {
                // A trigger takes back what is done, or all of it would be done by now.
                let trigger = Obstacle(.trigger, at: table.table)
                throw SQLError(.constraint, target: target, trigger)
            }
            guard chunk.count < chunk.asked else { return false }
            if let counter { close(counter) }
        }
        counts.entries += try session.held(order, plan)
        return true
    }

    private mutating func close(_ counter: TableCounter) {
        counts.entries += counter.entries
        self.counter = nil
        chunkRows = SQLLimits.chunkRows
        tableIndex += 1
    }
}
