import Engine
import GRDB
import Lifecycle

/// Runs one write transaction: as many orders, or as many chunks of one, as fit the time.
///
/// Lives inside the closure of one database access. Every way out ends the transaction.
struct SQLitePurgeTransaction {
    private let reader: SQLiteReader
    private let plan: SQLPlan<SQLiteDialect>
    private let orders: [PurgeOrder]
    private let clock: StoreClock
    private let tables: [SQLiteQueries]

    init(
        _ reader: SQLiteReader,
        plan: SQLPlan<SQLiteDialect>,
        orders: [PurgeOrder],
        clock: StoreClock
    ) throws(SQLError) {
        self.reader = reader
        self.plan = plan
        self.orders = orders
        self.clock = clock
        var tables: [SQLiteQueries] = []
        for table in plan.tables { tables.append(try SQLiteQueries(table, reader)) }
        self.tables = tables
    }

    /// Does the next piece of `progress` and commits it.
    ///
    /// - Throws: ``SQLError`` for what concerns the whole database; nothing is committed then.
    func run(_ progress: SQLitePurgeProgress) throws(SQLError) -> SQLitePurgeProgress {
        defer { for table in tables { table.forget() } }
        if let answered = try refused(progress) { return answered }
        return try reader.bounded(by: SQLiteLimits.statementDeadline) {
            () throws(SQLError) -> SQLitePurgeProgress in
            try reader.execute("BEGIN IMMEDIATE")
            do throws(SQLError) {
                // Ends with the transaction (sqlite.org/pragma.html#pragma_defer_foreign_keys).
                if plan.isCircular { try reader.execute("PRAGMA defer_foreign_keys = ON") }
                try reader.requireSame(plan)
                return try work(progress)
            } catch {
                rollBack()
                guard error.concernsOneOrder, progress.isolation != .sparing else { throw error }
                return progress.isolated(progress.isolation.next)
            }
        }
    }

    /// Answers an order whose rows cannot be read before the application has to wait for that: a
    /// plan that spares long values uses no index.
    private func refused(_ progress: SQLitePurgeProgress) throws(SQLError) -> SQLitePurgeProgress? {
        var after = progress
        after.skipAnswered()
        guard after.isolation == .sparing, after.resume == nil, after.next < orders.count,
            !orders[after.next].isOutdated, !orders[after.next].isStopped
        else { return nil }
        do throws(SQLError) {
            let order = orders[after.next]
            try reader.reading(plan) { () throws(SQLError) -> Void in try count(order) }
            return nil
        } catch {
            guard error.concernsOneOrder else { throw error }
            _ = fail(&after, after.next, error)
            return after.isolated(.single)
        }
    }

    private func count(_ order: PurgeOrder) throws(SQLError) {
        for table in tables where !table.plan.isReleased {
            guard let key = table.plan.root.key(for: order.user) else { continue }
            do throws(SQLError) {
                try table.bind(.of(key, time: order.cutoff))
                _ = try table.count.integers()
            } catch {
                throw error.sized(at: table.plan.table)
            }
        }
    }

    private func work(_ progress: SQLitePurgeProgress) throws(SQLError) -> SQLitePurgeProgress {
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
            let isTimeUp = clock.uptime() - start >= SQLiteLimits.chunkTransactionSoft
            if isOrderDone, after.isolation == .sparing { after.isolation = .single }
            if !isOrderDone || after.isolation == .single || isTimeUp { break }
        }
        return try commit(after, from: progress, since: start)
    }

    private var finder: SQLiteObstacles { SQLiteObstacles(reader: reader, plan: plan) }

    // MARK: Orders

    /// Works on the order at `progress.next`; false when time ran out in the middle of it.
    private func take(
        _ progress: inout SQLitePurgeProgress,
        since start: Duration
    ) throws(SQLError) -> Bool {
        let index = progress.next
        guard progress.isolation != .optimistic else {
            return try work(&progress, since: start)
        }
        let isAlone = progress.isolation.isAlone
        if !isAlone { try reader.execute("SAVEPOINT expunged_order") }
        do {
            let isDone = try work(&progress, since: start)
            if !isAlone { try reader.execute("RELEASE expunged_order") }
            return isDone
        } catch {
            let isSpared = error.kind != .oversized || progress.isolation == .sparing
            guard error.concernsOneOrder, isSpared else { throw error }
            if isAlone {
                // A trigger with RAISE(ROLLBACK) has ended it already.
                rollBack()
                try reader.execute("BEGIN IMMEDIATE")
            } else {
                guard reader.db.isInsideTransaction else { throw error }
                try reader.execute("ROLLBACK TO expunged_order")
                try reader.execute("RELEASE expunged_order")
            }
            return fail(&progress, index, error)
        }
    }

    private func fail(
        _ progress: inout SQLitePurgeProgress,
        _ index: Int,
        _ error: SQLError
    ) -> Bool {
        progress.answers[index] = .failure(error.failure)
        progress.resume = nil
        return true
    }

    private func work(
        _ progress: inout SQLitePurgeProgress,
        since start: Duration
    ) throws(SQLError) -> Bool {
        let order = orders[progress.next]
        var resume = try begin(order, progress)
        while resume.tableIndex < tables.count {
            if order.isOutdated {
                progress.resume = resume
                return false
            }
            let table = tables[resume.tableIndex]
            guard let key = table.plan.root.key(for: order.user) else {
                let action = table.plan.rule.receiptAction.of(.noSuchID)
                close(TableCounter(table: table.plan.table, action: action), changed: 0, &resume)
                continue
            }
            try table.bind(.of(key, time: order.cutoff))
            let isTableDone: Bool
            do throws(SQLError) {
                isTableDone = try advance(table, key, cutoff: order.cutoff, &resume, since: start)
            } catch {
                throw finder.named(error, at: table.plan, key, cutoff: order.cutoff)
            }
            if !isTableDone {
                progress.resume = resume
                return false
            }
            guard !table.plan.isReleased else { continue }
            resume.counts.entries += try reader.unreached(table.plan, order, &resume.reached)
        }
        progress.resume = nil
        let held = try reader.held(order, plan)
        resume.counts.entries += held
        progress.answers[progress.next] =
            held.isEmpty
            ? .done(resume.counts)
            : .held(resume.counts, under: Set(order.holds.map(\.name)))
        return true
    }

    /// Rows that go behind those that lead to them are asked for before these go.
    private func begin(
        _ order: PurgeOrder,
        _ progress: SQLitePurgeProgress
    ) throws(SQLError) -> SQLitePurgeProgress.Resume {
        if let resume = progress.resume { return resume }
        var resume = SQLitePurgeProgress.Resume()
        resume.reached = progress.reachedBefore[progress.next]
        resume.reached.merge(try reader.ledByAccount(order, plan)) { before, _ in before }
        for table in plan.tables where table.isReleased {
            resume.counts.entries += try reader.unreached(table, order, &resume.reached)
        }
        return resume
    }

    // MARK: Tables

    private func advance(
        _ table: SQLiteQueries,
        _ key: RootKey,
        cutoff: WallTime,
        _ resume: inout SQLitePurgeProgress.Resume,
        since start: Duration
    ) throws(SQLError) -> Bool {
        let parameters = SQLParameters.of(key, time: cutoff)
        if table.plan.isReleased {
            let action = table.plan.rule.receiptAction
            let counter = TableCounter(table: table.plan.table, action: action)
            close(counter, changed: resume.released[table.plan.rule] ?? 0, &resume)
            return true
        }
        if resume.chunkCount == 0 {
            let (found, newer, undated) = try table.count.integers() ?? (0, 0, 0)
            let isCounted = !table.plan.rule.action.changesRows
            let isIdle = isCounted || found == newer
            var isSmall = isCounted || found <= SQLLimits.chunkRows
            if isSmall {
                if !isIdle, found > 1 { isSmall = try fits(table, parameters) }
                resume.undatedCount = isIdle ? 0 : Int(undated)
            }
            if isSmall {
                let counter = TableCounter(
                    of: table.plan.rule,
                    (found: Int(found), newer: Int(newer), undated: resume.undatedCount)
                )
                let releases: SQLiteReleases? =
                    isIdle ? nil : try SQLiteReleases(table.plan, reader, parameters)
                let changed = isIdle ? 0 : try table.change(on: reader.db)
                try releases?.run(&resume.released)
                close(counter, changed: changed, &resume)
                return true
            }
        }
        return try advanceByChunks(table, parameters, &resume, since: start)
    }

    /// Whether one statement may change all rows of a user, who has few.
    private func fits(
        _ table: SQLiteQueries,
        _ parameters: SQLParameters
    ) throws(SQLError) -> Bool {
        guard table.plan.work.sizesSQL != nil else { return true }
        let chunks = try SQLiteChunkQueries(table.plan.work, reader)
        defer { chunks.forget() }
        try chunks.bind(parameters)
        return try !chunks.fitting(rowsMax: SQLLimits.chunkRows, behind: .max).isFull
    }

    private func advanceByChunks(
        _ table: SQLiteQueries,
        _ parameters: SQLParameters,
        _ resume: inout SQLitePurgeProgress.Resume,
        since start: Duration
    ) throws(SQLError) -> Bool {
        let chunks = try SQLiteChunkQueries(table.plan.work, reader)
        defer { chunks.forget() }
        try chunks.bind(parameters)
        while true {
            let begin = clock.uptime()
            let rows = try chunks.fitting(rowsMax: resume.chunkRows, behind: resume.cursor)
            let releases = try SQLiteReleases(
                table.plan,
                reader,
                parameters,
                rowsMax: rows.rowCount
            )
            let changed = try chunks.run(rows, on: reader.db, cursor: &resume.cursor)
            try releases.run(&resume.released)
            resume.chunkCount += 1
            let took = clock.uptime() - begin
            resume.chunkRows = ChunkPace.rows(after: resume.chunkRows, took: took)
            resume.rowCount += changed
            if changed == 0 {
                close(table, newer: try chunks.newerCount(), &resume)
                return true
            }
            guard resume.chunkCount < SQLLimits.chunks else {
                // A trigger takes back what is done, or all of it would be done by now.
                let trigger = Obstacle(.trigger, at: table.plan.table)
                throw SQLError(.constraint, store: reader.store, trigger)
            }
            let elapsed = clock.uptime() - start
            if ChunkPace.isOver(after: elapsed, chunk: took, commit: resume.commitTook) {
                return false
            }
        }
    }

    /// Writes a table's entries and goes on to the next table.
    private func close(
        _ table: SQLiteQueries,
        newer: Int,
        _ resume: inout SQLitePurgeProgress.Resume
    ) {
        let action = table.plan.rule.receiptAction
        var counter = TableCounter(table: table.plan.table, action: action)
        (counter.undatedCount, counter.newerCount) = (resume.undatedCount, newer)
        close(counter, changed: resume.rowCount, &resume)
    }

    private func close(
        _ counted: TableCounter,
        changed: Int,
        _ resume: inout SQLitePurgeProgress.Resume
    ) {
        var counter = counted
        counter.rowCount += changed
        var next = SQLitePurgeProgress.Resume()
        (next.counts, next.released) = (resume.counts, resume.released)
        next.reached = resume.reached
        next.counts.entries += counter.entries
        next.tableIndex = resume.tableIndex + 1
        next.commitTook = resume.commitTook
        resume = next
    }

    // MARK: Transaction

    private func commit(
        _ after: SQLitePurgeProgress,
        from before: SQLitePurgeProgress,
        since start: Duration
    ) throws(SQLError) -> SQLitePurgeProgress {
        if orders.contains(where: \.isOutdated) { return halted(before) }
        let begin = clock.uptime()
        do {
            try reader.execute("COMMIT")
        } catch {
            // What violates a deferred key is seen only while the transaction is open.
            let named = before.isolation.isAlone ? finder.named(error) : error
            rollBack()
            guard error.concernsOneOrder else { throw error }
            guard before.isolation.isAlone else { return before.isolated(.single) }
            var failed = before
            failed.skipAnswered()
            _ = fail(&failed, failed.next, named)
            return failed
        }
        let end = clock.uptime()
        try reader.requireSameFile()
        var after = after
        after.resume?.commitTook = end - begin
        after.resume?.heldFor = end - start
        return after
    }

    /// Takes back what is not committed, and answers every order that has no answer.
    private func halted(_ progress: SQLitePurgeProgress) -> SQLitePurgeProgress {
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

    private func rollBack() {
        if reader.db.isInsideTransaction { reader.rollBack() }
    }
}

extension ChunkPace {
    /// Whether to commit after `elapsed`: another chunk and the commit, which took so long the last
    /// time, would hold the lock for too long.
    static func isOver(after elapsed: Duration, chunk: Duration, commit: Duration) -> Bool {
        elapsed >= SQLiteLimits.chunkTransactionSoft
            || elapsed + chunk + commit > SQLiteLimits.transactionSoft
    }
}
