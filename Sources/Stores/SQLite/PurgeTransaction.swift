internal import CSQLiteGuard
internal import Engine
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Runs one write transaction: as many orders, or as many chunks of one, as fit the time.
///
/// Lives inside the closure of one database access. Every way out ends the transaction.
struct PurgeTransaction {
    let db: Database
    let plan: SQLitePurgePlan
    let orders: [PurgeOrder]
    let target: TargetName
    let clock: TargetClock
    private let tables: [TableQueries]

    init(
        _ db: Database,
        plan: SQLitePurgePlan,
        orders: [PurgeOrder],
        target: TargetName,
        clock: TargetClock
    ) throws {
        self.db = db
        self.plan = plan
        self.orders = orders
        self.target = target
        self.clock = clock
        tables = try plan.tables.map { try TableQueries($0, on: db, target: target) }
    }

    /// Does the next piece of `progress` and commits it.
    ///
    /// - Throws: ``TargetError`` for what concerns the whole database; nothing is committed then.
    func run(_ progress: PurgeProgress) throws(TargetError) -> PurgeProgress {
        unsafe csqliteguard_deadline_begin(
            db.sqliteConnection,
            TargetLimits.statementDeadline.milliseconds
        )
        defer {
            unsafe csqliteguard_deadline_end(db.sqliteConnection)
            for table in tables { table.forgetUser() }
        }
        try execute("BEGIN IMMEDIATE")
        do {
            // Ends with the transaction (sqlite.org/pragma.html#pragma_defer_foreign_keys).
            if plan.isCircular { try execute("PRAGMA defer_foreign_keys = ON") }
            try ConnectionChecks.requireSamePlan(plan, db, target)
            let start = clock.uptime()
            var after = progress
            after.skipAnswered()
            if orders.contains(where: \.isOutdated) { return halted(progress) }
            while after.next < orders.count {
                if after.resume == nil, orders[after.next].isStopped {
                    after.answers[after.next] = .stopped
                    after.skipAnswered()
                    continue
                }
                let isOrderDone = try take(&after, since: start)
                after.skipAnswered()
                if !isOrderDone || after.isolation == .single || isTimeUp(since: start) { break }
            }
            return try commit(after, from: progress, since: start)
        } catch {
            rollBack()
            guard error.concernsOneOrder, progress.isolation != .single else { throw error }
            return isolating(progress)
        }
    }

    private var finder: ObstacleFinder { ObstacleFinder(db: db, plan: plan, target: target) }

    // MARK: Orders

    /// Works on the order at `progress.next`; false when time ran out in the middle of it.
    private func take(
        _ progress: inout PurgeProgress,
        since start: Duration
    ) throws(TargetError) -> Bool {
        let index = progress.next
        guard progress.isolation != .optimistic else {
            return try work(&progress, since: start)
        }
        try execute("SAVEPOINT expunged_order")
        do {
            let isDone = try work(&progress, since: start)
            try execute("RELEASE expunged_order")
            return isDone
        } catch {
            // A trigger with RAISE(ROLLBACK) has already ended the transaction for everyone.
            guard error.concernsOneOrder, db.isInsideTransaction else {
                if error.concernsOneOrder, progress.isolation == .single {
                    try execute("BEGIN IMMEDIATE")
                    return fail(&progress, index, error)
                }
                throw error
            }
            try execute("ROLLBACK TO expunged_order")
            try execute("RELEASE expunged_order")
            return fail(&progress, index, error)
        }
    }

    private func fail(_ progress: inout PurgeProgress, _ index: Int, _ error: TargetError) -> Bool {
        progress.answers[index] = .failure(error.failure)
        progress.resume = nil
        return true
    }

    private func work(
        _ progress: inout PurgeProgress,
        since start: Duration
    ) throws(TargetError) -> Bool {
        let order = orders[progress.next]
        var resume = progress.resume ?? PurgeProgress.Resume()
        while resume.tableIndex < tables.count {
            if order.isOutdated {
                progress.resume = resume
                return false
            }
            let table = tables[resume.tableIndex]
            guard let key = table.plan.rule.idType.key(for: order.user) else {
                let action = table.plan.action + ", no such id"
                resume.counts.entries.append(
                    .init(name: table.plan.table, action: action, rowCount: 0)
                )
                resume.tableIndex += 1
                continue
            }
            try table.bind(key, cutoff: order.cutoff)
            let isTableDone: Bool
            do throws(TargetError) {
                isTableDone = try advance(table, key, cutoff: order.cutoff, &resume, since: start)
            } catch {
                throw finder.named(error, at: table.plan, key, cutoff: order.cutoff)
            }
            if !isTableDone {
                progress.resume = resume
                return false
            }
        }
        progress.resume = nil
        let held = try heldEntries(order)
        resume.counts.entries += held
        progress.answers[progress.next] =
            held.isEmpty
            ? .done(resume.counts)
            : .held(resume.counts, under: Set(order.holds.map(\.name)))
        return true
    }

    /// What stays of a user under holds, counted in the transaction that did the last of the work.
    private func heldEntries(
        _ order: PurgeOrder
    ) throws(TargetError) -> [PurgeCounts.Entry] {
        var entries: [PurgeCounts.Entry] = []
        for table in plan.tables {
            guard let sql = table.heldSQL, let key = table.rule.idType.key(for: order.user)
            else { continue }
            let query: PreparedQuery
            do {
                query = try PreparedQuery(sql, constants: table.constants, on: db, target: target)
            } catch {
                throw TargetError(error, target: target)
            }
            defer { query.forgetUser() }
            try query.bind(key, cutoff: order.cutoff)
            guard let (count, _, _) = try query.integers(), count > 0 else { continue }
            entries.append(
                .init(name: table.table, action: PurgeCounts.heldAction, rowCount: Int(count))
            )
        }
        return entries
    }

    // MARK: Tables

    private func advance(
        _ table: TableQueries,
        _ key: BoundValue,
        cutoff: WallTime,
        _ resume: inout PurgeProgress.Resume,
        since start: Duration
    ) throws(TargetError) -> Bool {
        if resume.chunkCount == 0 {
            let (found, newer, undated) = try table.count.integers() ?? (0, 0, 0)
            if table.plan.rule.action == .keep || found <= TargetLimits.chunkRows {
                let isIdle = table.plan.rule.action == .keep || found == newer
                let changed = isIdle ? 0 : try table.work.run(on: db)
                resume.rowCount = table.plan.rule.action == .keep ? Int(found) : changed
                resume.undatedCount = isIdle ? 0 : Int(undated)
                close(
                    table,
                    newer: isIdle && table.plan.rule.action == .keep ? 0 : Int(newer),
                    &resume
                )
                return true
            }
        }
        let chunks = try ChunkQueries(table.plan, on: db, target: target)
        defer { chunks.forgetUser() }
        try chunks.bind(key, cutoff: cutoff)
        while true {
            let begin = clock.uptime()
            let changed = try chunks.next(
                on: db,
                rowsMax: resume.chunkRows,
                cursor: &resume.cursor
            )
            resume.chunkCount += 1
            let took = clock.uptime() - begin
            resume.chunkRows = ChunkPace.rows(after: resume.chunkRows, took: took)
            resume.rowCount += changed
            if changed == 0 {
                let newer = try chunks.newer?.integers()?.0 ?? 0
                close(table, newer: Int(newer), &resume)
                return true
            }
            guard resume.chunkCount < TargetLimits.chunks else {
                // A trigger takes back what is done, or all of it would be done by now.
                var error = TargetError(kind: .constraint, target: target)
                error.obstacle = Obstacle(.trigger, at: table.plan.table)
                throw error
            }
            let elapsed = clock.uptime() - start
            if ChunkPace.isOver(after: elapsed, chunk: took, commit: resume.commitTook) {
                return false
            }
        }
    }

    /// Writes a table's entries and goes on to the next table.
    private func close(
        _ table: TableQueries,
        newer: Int,
        _ resume: inout PurgeProgress.Resume
    ) {
        let counter = TableCounter(
            table: table.plan.table,
            action: table.plan.action,
            rowCount: resume.rowCount,
            undatedCount: resume.undatedCount,
            newerCount: newer
        )
        var next = PurgeProgress.Resume()
        next.counts = resume.counts
        next.counts.entries += counter.entries
        next.tableIndex = resume.tableIndex + 1
        next.commitTook = resume.commitTook
        resume = next
    }

    // MARK: Transaction

    private func commit(
        _ after: PurgeProgress,
        from before: PurgeProgress,
        since start: Duration
    ) throws(TargetError) -> PurgeProgress {
        if orders.contains(where: \.isOutdated) { return halted(before) }
        let begin = clock.uptime()
        do {
            try execute("COMMIT")
        } catch {
            // What violates a deferred key is seen only while the transaction is open.
            let named = before.isolation == .single ? finder.named(error) : error
            rollBack()
            guard error.concernsOneOrder else { throw error }
            guard before.isolation == .single else { return isolating(before, .single) }
            var failed = before
            failed.skipAnswered()
            _ = fail(&failed, failed.next, named)
            return failed
        }
        let end = clock.uptime()
        try ConnectionChecks.requireSameFile(db, target)
        var after = after
        after.resume?.commitTook = end - begin
        after.resume?.heldFor = end - start
        return after
    }

    /// Takes back what is not committed, and answers every order that has no answer.
    private func halted(_ progress: PurgeProgress) -> PurgeProgress {
        rollBack()
        var progress = progress
        progress.skipAnswered()
        if var resume = progress.resume {
            if resume.rowCount > 0 { close(tables[resume.tableIndex], newer: 0, &resume) }
            progress.answers[progress.next] = .halted(resume.counts)
            progress.resume = nil
        }
        progress.answers = progress.answers.map { $0 ?? .stopped }
        return progress
    }

    /// The same progress, to be tried again with the next stronger isolation.
    private func isolating(
        _ progress: PurgeProgress,
        _ isolation: PurgeProgress.Isolation? = nil
    ) -> PurgeProgress {
        var progress = progress
        progress.isolation =
            isolation ?? (progress.isolation == .optimistic ? .savepoints : .single)
        return progress
    }

    private func isTimeUp(since start: Duration) -> Bool {
        clock.uptime() - start >= TargetLimits.transactionSoft
    }

    private func rollBack() {
        guard db.isInsideTransaction else { return }
        // A failed ROLLBACK means that SQLite has already rolled back.
        _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil)
    }

    private func execute(_ sql: String) throws(TargetError) {
        try ConnectionChecks.execute(sql, db, target)
    }
}
