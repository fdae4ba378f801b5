import CSQLiteGuard
package import Engine
import GRDB
import GRDBSQLite
package import Lifecycle

/// A SQLite database of the application, purged in short transactions beside its owner.
///
/// Every problem is an answer. A constraint or trigger that stops one order is that order's failure
/// alone; what concerns the database ends the call for the orders not yet answered.
package actor SQLiteStore: FileHolding, UserListing, RowHolding, CoverageSearching,
    RuleSuggesting, KeySource
{
    typealias Plan = SQLPlan<SQLiteDialect>

    /// What plans for one schema differ by.
    struct PlanKind: Hashable {
        var holds: [RowFilter] = []
        var sparesLongValues = false
    }

    package nonisolated let name: StoreName
    let configuration: SQLiteStorePlan
    let nonCanonical: NonCanonicalID
    private let hasher: any KeyedHasher
    let clock: StoreClock
    /// Refusals of the guarded VFS that have been reported.
    var guardBaseline: UInt64

    private var queue: DatabaseQueue?
    private var reached = ReachedRules()
    var plans: [PlanKind: Plan] = [:]
    /// How long the write lock was held since the last gap, and when it was let go.
    private var held = Duration.zero
    private var releasedAt = Duration.zero

    package init(plan: SQLiteStorePlan, hasher: any KeyedHasher, clock: StoreClock) {
        name = plan.name
        configuration = plan
        nonCanonical = NonCanonicalID(plan.rules)
        self.hasher = hasher
        self.clock = clock
        guardBaseline = unsafe csqliteguard_refusals(plan.path)
    }

    package func shutdown() async {}

    // MARK: Purge

    /// Deletes and masks, many orders in one short transaction.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let answers = await purgeSpelled(nonCanonical.fit(orders))
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    private func purgeSpelled(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        var progress = SQLitePurgeProgress(reachedBefore: orders.map { reached[$0] })
        let holds = orders.first?.holds.compactMap(\.rows) ?? []
        var residualCopies: [PurgeCounts.ResidualCopies] = []
        let error = await retrying {
            while !progress.isFinished {
                try await look(at: orders, holds, &progress)
                let isSparing = progress.isolation == .sparing
                let plan = try await ready(holds, sparingLongValues: isSparing)
                try await rest(before: progress.resume)
                let (before, clock) = (progress, clock)
                let begin = clock.uptime()
                let isLogged: Bool
                (progress, isLogged) = try await read { reader in
                    let progress = try SQLitePurgeTransaction(
                        reader,
                        plan: plan,
                        orders: Array(orders.prefix(before.looked)),
                        clock: clock
                    )
                    .run(before)
                    let mode = try reader.db.cachedStatement(sql: "PRAGMA main.journal_mode")
                    return (progress, try String.fetchOne(mode) == "wal")
                }
                if isLogged { residualCopies = [logged] }
                noteHeld(since: begin)
            }
        }
        var (begun, untouched) = (EffectFailure.lost, EffectFailure.lost)
        if let error {
            if error.obstacle == nil { orders.first?.gate?.note(error.cause) }
            if let resume = progress.resume { reached[orders[progress.next]] = resume.reached }
            begun = error.failure
            untouched = error.kind == .cancelled ? .unreachable : error.failure
        } else if configuration.vacuum == .incremental {
            await giveBackPages()
        }
        let answers = progress.answers(elseBegun: begun, elseUntouched: untouched)
            .map { $0.noting(residualCopies) }
        reached.forget(orders, answers)
        return await takingBackUnreached(answers)
    }

    /// What the write-ahead log holds for a while: frames of before, and pages that no checkpoint
    /// has overwritten in the file yet (sqlite.org/wal.html).
    private var logged: PurgeCounts.ResidualCopies {
        let end = configuration.residualCopiesKept.map { clock.wall() + $0 }
        return PurgeCounts.ResidualCopies(.sqliteLog, until: end)
    }

    // MARK: Connection

    /// Closes the connection; the next call opens it again.
    package func closeIdleFiles() {
        plans = [:]
        queue = nil
    }

    /// Closes the connection when another file is at the path now.
    func letGoOfMoved() async throws {
        guard queue != nil else { return }
        let hasMoved = try await read { unsafe csqliteguard_has_moved($0.db.sqliteConnection) != 0 }
        if hasMoved { closeIdleFiles() }
    }

    /// Closes the connection at the end of a call, unless another call uses it.
    ///
    /// Its pages, its statements and its scratch space hold ids of users. What is closed is freed,
    /// and what is freed is wiped (docs/decisions/0030-freed-memory-is-wiped.md).
    func closeIfUnused() {
        if isKnownUniquelyReferenced(&queue) { queue = nil }
    }

    /// Uses the connection, which it opens.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (SQLiteReader) throws -> Answer
    ) async throws -> Answer {
        let open = try queue ?? SQLiteConnection.open(configuration, hasher: hasher, clock: clock)
        queue = open
        let name = name
        let (answer, isOpen) = try await open.writeWithoutTransaction { db in
            (Result { try body(SQLiteReader(db: db, store: name)) }, db.isInsideTransaction)
        }
        // A ROLLBACK was interrupted; SQLite rolls back when the connection closes.
        if isOpen { queue = nil }
        return try answer.get()
    }

    /// A plan; the transaction checks that it still fits the schema.
    func ready(
        _ holds: [RowFilter] = [],
        sparingLongValues isSparing: Bool = false
    ) async throws -> Plan {
        let kind = PlanKind(holds: holds, sparesLongValues: isSparing)
        if let plan = plans[kind] { return plan }
        guard let made = try await examine(holds, sparingLongValues: isSparing).plan else {
            throw SQLError(.planRefused, store: name)
        }
        // Those without holds, and those under the present ones.
        plans = plans.filter { $0.key.holds.isEmpty || $0.key.holds == holds }
        plans[kind] = made
        return made
    }

    /// Works by the usual plan, and where a value stops it by one that spares long values.
    ///
    /// Such a plan uses no index. `body` also learns that it is the last try.
    func sparing<Answer>(
        _ holds: [RowFilter] = [],
        _ body: (Plan, _ isLast: Bool) async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await body(ready(holds), false)
        } catch let error as SQLError where error.kind == .oversized {
            return try await body(ready(holds, sparingLongValues: true), true)
        }
    }

    /// Tries again with a new plan when the application has changed its schema meanwhile.
    ///
    /// - Returns: Why it did not come to its end.
    func retrying(_ body: () async throws -> Void) async -> SQLError? {
        var tries = 0
        while true {
            do {
                try await body()
                return nil
            } catch {
                let error = SQLError(error, store: name)
                forget(after: error)
                tries += 1
                guard error.kind == .schemaChanged, tries <= SQLLimits.schemaRetries else {
                    return error
                }
            }
        }
    }

    /// Answers what `body` returns, or the failure.
    func answering<Answer>(
        _ failed: (EffectFailure) -> Answer,
        _ body: () async throws -> Answer
    ) async -> Answer {
        var answer: Answer?
        let error = await retrying { answer = try await body() }
        return answer ?? failed(error?.failure ?? .lost)
    }

    func forget(after error: SQLError) {
        if error.rest != .planAndConnection { plans = [:] }
        if error.rest == .nothing { queue = nil }
    }

    /// The answers are there already: whatever goes wrong here is left to the next purge.
    private func giveBackPages() async {
        do {
            for _ in 0..<SQLiteLimits.vacuumPieces {
                let free = try await read { reader in
                    try reader.execute(
                        "PRAGMA main.incremental_vacuum(\(SQLiteLimits.vacuumPages))"
                    )
                    return try reader.count("PRAGMA main.freelist_count")
                }
                if free == 0 { return }
                try await clock.rest(SQLLimits.restBetweenChunks)
            }
        } catch {
            forget(after: SQLError(error, store: name))
        }
    }

    // MARK: Gaps for other writers

    private func rest(before resume: SQLitePurgeProgress.Resume?) async throws {
        if let resume {
            // Where transactions take longer others wait longer between two tries, too.
            try await clock.rest(max(SQLLimits.restBetweenChunks, resume.heldFor))
            held = .zero
        } else if held >= SQLiteLimits.chunkTransactionSoft {
            let gap = clock.uptime() - releasedAt
            if gap < SQLiteLimits.rest { try await clock.rest(SQLiteLimits.rest - gap) }
            held = .zero
        }
    }

    private func noteHeld(since begin: Duration) {
        let now = clock.uptime()
        if begin - releasedAt >= SQLiteLimits.rest { held = .zero }
        held += now - begin
        releasedAt = now
    }
}
