internal import CSQLiteGuard
package import Engine
internal import GRDB
internal import GRDBSQLite
package import Lifecycle

/// A SQLite database of the application, purged in short transactions beside its owner.
///
/// Every problem is an answer. A constraint or trigger that stops one order is that order's failure
/// alone; what concerns the database ends the call for the orders not yet answered.
package actor SQLiteTarget: FileHolding {
    package nonisolated let name: TargetName
    private let configuration: SQLiteTargetPlan
    private let nonCanonical: NonCanonicalID
    private let hasher: any KeyedHasher
    let clock: TargetClock
    /// Refusals of the guarded VFS that have been reported.
    private var guardBaseline: UInt64

    private var queue: DatabaseQueue?
    private var plan: SQLitePurgePlan?
    /// The plan under the holds that the last purge was given.
    private var heldPlan: (holds: [RowFilter], plan: SQLitePurgePlan)?
    /// How long the write lock was held since the last gap, and when it was let go.
    private var held = Duration.zero
    private var releasedAt = Duration.zero

    /// - Parameters:
    ///   - plan: What to do with which tables.
    ///   - hasher: Makes the masks of the strategy `hash`.
    ///   - clock: Time and randomness.
    package init(plan: SQLiteTargetPlan, hasher: any KeyedHasher, clock: TargetClock) {
        name = plan.name
        configuration = plan
        nonCanonical = NonCanonicalID(plan.rules)
        self.hasher = hasher
        self.clock = clock
        guardBaseline = unsafe csqliteguard_refusals(plan.path)
    }

    // MARK: PurgeTarget

    /// Deletes and masks, many orders in one short transaction.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let answers = await purgeSpelled(nonCanonical.fit(orders))
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    private func purgeSpelled(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        var progress = PurgeProgress(orderCount: orders.count)
        let holds = orders.first?.holds.compactMap(\.rows) ?? []
        var residualCopies: [PurgeCounts.ResidualCopies] = []
        var schemaTries = 0
        while !progress.isFinished {
            do {
                let (queue, plan) = try await ready(holds)
                try await rest(before: progress.resume)
                let before = progress
                let (target, clock) = (name, clock)
                let begin = clock.uptime()
                let isLogged: Bool
                (progress, isLogged) = try await queue.writeWithoutTransaction { db in
                    let progress = try PurgeTransaction(
                        db,
                        plan: plan,
                        orders: orders,
                        target: target,
                        clock: clock
                    )
                    .run(before)
                    let mode = try db.cachedStatement(sql: "PRAGMA main.journal_mode")
                    return (progress, try String.fetchOne(mode) == "wal")
                }
                if isLogged { residualCopies = [logged] }
                noteHeld(since: begin)
            } catch {
                let error = TargetError(error, target: name)
                forget(after: error)
                schemaTries += 1
                guard error.kind == .schemaChanged, schemaTries <= TargetLimits.schemaRetries
                else {
                    return progress.answers(
                        elseBegun: error.failure,
                        elseUntouched: error.kind == .cancelled ? .unreachable : error.failure
                    )
                    .map { $0.noting(residualCopies) }
                }
            }
        }
        if configuration.vacuum == .incremental { await giveBackPages() }
        return progress.answers(elseBegun: .lost, elseUntouched: .lost)
            .map { $0.noting(residualCopies) }
    }

    /// What the write-ahead log holds for a while: frames of before, and pages that no checkpoint
    /// has overwritten in the file yet (sqlite.org/wal.html).
    private var logged: PurgeCounts.ResidualCopies {
        PurgeCounts.ResidualCopies(
            text: "deleted content in the write-ahead log and behind it, until a checkpoint and"
                + " until the log is written over",
            until: configuration.residualCopiesKept.map { clock.wall() + $0 }
        )
    }

    /// Counts what is left by other queries than the purge used.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        let answers = await verifySpelled(nonCanonical.fit(orders))
        closeIfUnused()
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    private func verifySpelled(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        var answers: [VerifyAnswer] = []
        var schemaTries = 0
        while answers.count < orders.count {
            do {
                let (queue, plan) = try await ready()
                let rest = orders[answers.count...]
                let (target, clock) = (name, clock)
                answers += try await queue.writeWithoutTransaction { db in
                    try VerifyTransaction(db: db, plan: plan, target: target, clock: clock)
                        .run(rest)
                }
            } catch {
                let error = TargetError(error, target: name)
                if error.kind == .interrupted {
                    // Millions of rows that are masked already, each of which is looked at.
                    answers.append(await verifyInPieces(orders[answers.count]))
                    continue
                }
                forget(after: error)
                schemaTries += 1
                guard error.kind == .schemaChanged, schemaTries <= TargetLimits.schemaRetries
                else {
                    let missing = orders.count - answers.count
                    return answers + Array(repeating: .failure(error.failure), count: missing)
                }
            }
        }
        return answers
    }

    /// Counts the user's rows table by table, each in short read transactions.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        guard !nonCanonical.concerns(order) else { return .failure(nonCanonical.failure(order)) }
        let answer = await planSpelled(order)
        closeIfUnused()
        return answer
    }

    private func planSpelled(_ order: PurgeOrder) async -> PlanAnswer {
        var schemaTries = 0
        while true {
            do {
                let (queue, plan) = try await ready()
                var items: [PlanItem] = []
                for table in plan.tables {
                    let count = try await count(
                        order,
                        from: RowCount(),
                        of: table,
                        table.counting,
                        (queue, plan)
                    )
                    items.append(count.item(of: table))
                }
                return .items(items)
            } catch {
                let error = TargetError(error, target: name)
                forget(after: error)
                schemaTries += 1
                guard error.kind == .schemaChanged, schemaTries <= TargetLimits.schemaRetries
                else { return .failure(error.failure) }
            }
        }
    }

    /// Goes through every table of which something is erased, page by page.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        let answer = await scan(where: isWanted)
        closeIfUnused()
        return answer
    }

    private func scan(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        do {
            let (queue, plan) = try await ready()
            let target = name
            var found: Set<UserID> = []
            for table in plan.tables where table.rule.action != .keep {
                var scan = table.users
                while !scan.isAtEnd {
                    let before = scan
                    let (page, after) = try await queue.writeWithoutTransaction { db in
                        var scan = before
                        let users = try scan.nextPage(db, plan: plan, target: target)
                        return (users.filter(isWanted), scan)
                    }
                    scan = after
                    found.formUnion(page)
                }
            }
            return .found(Array(found))
        } catch {
            let error = TargetError(error, target: name)
            forget(after: error)
            return .failure(error.failure)
        }
    }

    /// Looks through the live schema for what looks like user data.
    package func coverage() async -> CoverageAnswer {
        do {
            let queue = try connect()
            let target = name
            let schema = try await queue.writeWithoutTransaction { db in
                try ConnectionChecks.execute("BEGIN", db, target)
                defer { _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil) }
                return try LiveSchema(db)
            }
            return .findings(
                SchemaCoverage(tables: schema.ownTables, claims: configuration.claims).findings()
            )
        } catch {
            let error = TargetError(error, target: name)
            forget(after: error)
            return .failure(error.failure)
        }
    }

    /// Makes the plan that leaves those rows alone, and drops it.
    package func check(_ filter: RowFilter) async -> FilterAnswer {
        do {
            let queue = try connect()
            let (rules, clock) = (configuration.workRules(holds: [filter]), clock)
            let found = try await queue.writeWithoutTransaction { db in
                try Diagnosis.run(db, rules: rules, now: clock.wall())
            }
            return found.problems.first.map { .refused($0) } ?? .accepted
        } catch {
            let error = TargetError(error, target: name)
            forget(after: error)
            return .failure(error.failure)
        }
    }

    /// Compares the configuration with the live schema; one sentence per problem.
    package func diagnose() async -> [String] {
        await inspect().problems
    }

    /// Checks everything at once.
    package func inspect() async -> TargetFindings { await look().found }

    /// Without somebody's lock, which goes away by itself.
    package func startupProblems() async -> [String] {
        let (found, isLocked) = await look()
        return isLocked ? [] : found.problems
    }

    /// Checks everything at once, and tells whether somebody's lock kept it from that.
    private func look() async -> (found: TargetFindings, isLocked: Bool) {
        var (problems, advice) = DirectoryCheck.inspect(path: configuration.path)
        // Opening it would make a file wherever the service happens to stand.
        guard configuration.path.hasPrefix("/"), problems.isEmpty else {
            return (TargetFindings(problems: problems, advice: advice), false)
        }
        var isLocked = false
        do {
            try await letGoOfMoved()
            let queue = try connect()
            let (rules, clock) = (configuration.workRules(), clock)
            let found = try await queue.writeWithoutTransaction { db in
                try Diagnosis.run(db, rules: rules, now: clock.wall())
            }
            // Values stored since the plan was made may forbid it now.
            (plan, heldPlan) = (found.plan, nil)
            problems += found.problems
            if configuration.vacuum == .incremental {
                let mode = try await queue.writeWithoutTransaction { db in
                    try Int.fetchOne(db, sql: "PRAGMA main.auto_vacuum")
                }
                if mode != Self.incrementalMode { problems.append(Self.vacuumProblem) }
            }
            advice += found.advice
        } catch {
            let error = TargetError(error, target: name)
            forget(after: error)
            isLocked = error.kind == .busy || error.kind == .interrupted
            problems.append(error.description)
        }
        let refusals = unsafe csqliteguard_refusals(configuration.path)
        if refusals > guardBaseline {
            let kind = unsafe String(
                cString: csqliteguard_refusal_name(csqliteguard_last_refusal(configuration.path))
            )
            problems.append(
                "\(refusals - guardBaseline) accesses beside '\(configuration.path)' were refused,"
                    + " the last one: \(kind)"
            )
            guardBaseline = refusals
            isLocked = false
        }
        return (TargetFindings(problems: problems, advice: advice), isLocked)
    }

    /// Closes the connection; the next call opens it again.
    package func closeIdleFiles() {
        (plan, heldPlan) = (nil, nil)
        queue = nil
    }

    // MARK: Connection

    /// Closes the connection when another file is at the path now: that one is looked at.
    private func letGoOfMoved() async throws {
        let hasMoved = try await queue?.writeWithoutTransaction { db in
            unsafe csqliteguard_has_moved(db.sqliteConnection) != 0
        }
        if hasMoved ?? false { closeIdleFiles() }
    }

    /// Closes the connection at the end of a call, unless another call uses it.
    ///
    /// Its pages, its statements and its scratch space hold ids of users. What is closed is freed,
    /// and what is freed is wiped (docs/decisions/0030-freed-memory-is-wiped.md).
    private func closeIfUnused() {
        if isKnownUniquelyReferenced(&queue) { queue = nil }
    }

    private func connect() throws -> DatabaseQueue {
        if let queue { return queue }
        let opened = try TargetConnection.open(configuration, hasher: hasher, clock: clock)
        queue = opened
        return opened
    }

    /// The connection and a plan; the transaction checks that the plan still fits the schema.
    func ready(
        _ holds: [RowFilter] = []
    ) async throws -> (DatabaseQueue, SQLitePurgePlan) {
        let queue = try connect()
        if holds.isEmpty, let plan { return (queue, plan) }
        if let heldPlan, heldPlan.holds == holds { return (queue, heldPlan.plan) }
        let (rules, name, clock) = (configuration.workRules(holds: holds), name, clock)
        let made = try await queue.writeWithoutTransaction { db in
            try Diagnosis.plan(db, rules: rules, now: clock.wall(), target: name)
        }
        if holds.isEmpty { plan = made } else { heldPlan = (holds, made) }
        return (queue, made)
    }

    func forget(after error: TargetError) {
        if error.endsPlan { (plan, heldPlan) = (nil, nil) }
        if error.endsConnection { queue = nil }
    }

    // MARK: Free pages

    /// What `PRAGMA auto_vacuum` answers for INCREMENTAL.
    private static let incrementalMode = 2
    private static let vacuumProblem =
        "vacuum = \"incremental\" needs a database with PRAGMA auto_vacuum = INCREMENTAL"

    /// The answers are there already: whatever goes wrong here is left to the next purge.
    private func giveBackPages() async {
        do {
            let queue = try connect()
            for _ in 0..<TargetLimits.vacuumPieces {
                let isOver = try await queue.writeWithoutTransaction { db in
                    try db.execute(
                        sql: "PRAGMA main.incremental_vacuum(\(TargetLimits.vacuumPages))"
                    )
                    return try Int.fetchOne(db, sql: "PRAGMA main.freelist_count") == 0
                }
                if isOver { return }
                try await clock.rest(TargetLimits.restBetweenChunks)
            }
        } catch {
            forget(after: TargetError(error, target: name))
        }
    }

    // MARK: Gaps for other writers

    private func rest(before resume: PurgeProgress.Resume?) async throws {
        if let resume {
            // Where transactions take longer others wait longer between two tries, too.
            try await clock.rest(max(TargetLimits.restBetweenChunks, resume.heldFor))
            held = .zero
        } else if held >= TargetLimits.transaction {
            let gap = clock.uptime() - releasedAt
            if gap < TargetLimits.rest { try await clock.rest(TargetLimits.rest - gap) }
            held = .zero
        }
    }

    private func noteHeld(since begin: Duration) {
        let now = clock.uptime()
        if begin - releasedAt >= TargetLimits.rest { held = .zero }
        held += now - begin
        releasedAt = now
    }
}
