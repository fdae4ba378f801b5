package import Engine
package import Lifecycle

/// A PostgreSQL database of the application, purged in short transactions beside its owner.
///
/// Every problem is an answer. A constraint or trigger that stops one order is that order's failure
/// alone; what concerns the server ends the call for the orders not yet answered.
package actor PostgreSQLTarget: PurgeTarget {
    package nonisolated let name: TargetName
    private let configuration: PostgreSQLTargetPlan
    private let nonCanonical: NonCanonicalID
    private let hasher: any KeyedHasher
    private let clock: TargetClock
    private let queue: BlockingQueue
    private let beforeStatement: (@Sendable (String) -> Bool)?

    private var session: PostgreSQLSession?
    private var usedAt = Duration.zero
    private var plan: PostgreSQLPlan?
    private var plannedAt = Duration.zero
    /// What the plan leaves alone.
    private var plannedHolds: [RowFilter] = []

    /// The queue on which everything here runs: waiting for a server holds no thread of others.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - plan: Which database, and what to do with which tables.
    ///   - hasher: Makes the masks of the strategy `hash`.
    ///   - clock: Time and randomness.
    package init(plan: PostgreSQLTargetPlan, hasher: any KeyedHasher, clock: TargetClock) {
        self.init(plan: plan, hasher: hasher, clock: clock, beforeStatement: nil)
    }

    /// The same; `beforeStatement` answers false to cut the connection instead of the statement.
    init(
        plan: PostgreSQLTargetPlan,
        hasher: any KeyedHasher,
        clock: TargetClock,
        beforeStatement: (@Sendable (String) -> Bool)?
    ) {
        name = plan.name
        configuration = plan
        nonCanonical = NonCanonicalID(plan.rules)
        self.hasher = hasher
        self.clock = clock
        self.beforeStatement = beforeStatement
        queue = BlockingQueue(label: "expunged.postgresql.\(plan.name)")
    }

    // MARK: PurgeTarget

    /// Deletes and masks, one user after the other.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let answers = await purgeSpelled(nonCanonical.fit(orders))
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    private func purgeSpelled(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await cancellable { signal in
            var answers: [PurgeAnswer] = []
            var tries = 0
            while answers.count < orders.count {
                guard !orders[answers.count].isStopped else {
                    answers.append(.stopped)
                    continue
                }
                let hadSession = session != nil
                do {
                    answers.append(try await purge(orders[answers.count], signal))
                    tries = 0
                } catch {
                    let error = known(error)
                    forget(after: error)
                    tries += 1
                    // A session that stood idle may be gone; a plan may be older than the schema.
                    if tries == 1, error.kind == .schemaChanged || error.kind == .lost && hadSession
                    {
                        continue
                    }
                    guard error.concernsOneOrder else {
                        let missing = orders.count - answers.count
                        return answers.map { $0.noting([residualCopies, Self.replicasUnknown]) }
                            + Array(repeating: .failure(error.failure), count: missing)
                    }
                    answers.append(.failure(error.failure))
                    tries = 0
                }
            }
            let copies = [residualCopies] + [await replicas(signal)].compactMap(\.self)
            return answers.map { $0.noting(copies) }
        }
    }

    /// Counts what is left by other queries, in one snapshot of a session of its own.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        let answers = await verifySpelled(nonCanonical.fit(orders))
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    private func verifySpelled(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await cancellable { signal in
            do throws(PostgreSQLError) {
                let plan = try ready(signal).plan
                let session = try open(signal)
                try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", session)
                var answers: [VerifyAnswer] = []
                for order in orders {
                    answers.append(try count(order, plan, session))
                }
                try run("COMMIT", session)
                return answers
            } catch {
                forget(after: error)
                return Array(repeating: .failure(error.failure), count: orders.count)
            }
        }
    }

    private func count(
        _ order: PurgeOrder,
        _ plan: PostgreSQLPlan,
        _ session: PostgreSQLSession
    ) throws(PostgreSQLError) -> VerifyAnswer {
        var remaining = 0
        var obstacle: Obstacle?
        for table in plan.tables {
            if let sql = table.remainingSQL,
                let key = table.rule.idType.key(for: order.user)?.parameter
            {
                remaining += try ask(sql, [key, cutoff(order)], session).integer(0)
            }
            guard obstacle == nil else { continue }
            obstacle = try self.obstacle(order, table, session)
        }
        guard remaining == 0 else { return .remaining(remaining) }
        return obstacle.map { .failure(.blocked($0)) } ?? .clean
    }

    /// What forbids to call the user's rows erased though none is left that the purge would take.
    private func obstacle(
        _ order: PurgeOrder,
        _ table: PostgreSQLTablePlan,
        _ session: PostgreSQLSession
    ) throws(PostgreSQLError) -> Obstacle? {
        let key = table.rule.idType.key(for: order.user)?.parameter
        let now = "\(clock.wall().unixMilliseconds)"
        let questions = [
            (table.nonCanonicalSQL, key, cutoff(order), table.rule.nonCanonical),
            (table.literalSQL, order.user.exposeText(), cutoff(order), table.rule.nonCanonical),
            (table.futureSQL, key, now, table.rule.future),
        ]
        for (sql, user, time, obstacle) in questions {
            guard let sql, let user else { continue }
            if try ask(sql, [user, time], session).integer(0) > 0 { return obstacle }
        }
        return nil
    }

    /// Counts the user's rows table by table, each in one statement: a reader holds up no writer.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        guard !nonCanonical.concerns(order) else { return .failure(nonCanonical.failure(order)) }
        return await cancellable { signal in
            do throws(PostgreSQLError) {
                let (session, plan) = try ready(signal)
                var items: [PlanItem] = []
                for table in plan.tables {
                    let key = table.rule.idType.key(for: order.user)?.parameter
                    let rows = try key.map { key throws(PostgreSQLError) in
                        try ask(table.planSQL, [key, cutoff(order)], session)
                    }
                    items.append(item(table, rows))
                }
                return .items(items)
            } catch {
                forget(after: error)
                return .failure(error.failure)
            }
        }
    }

    /// Goes through every table of which something is erased, page by page.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        await cancellable { signal in
            do {
                var found: Set<UserID> = []
                for table in try ready(signal).plan.tables where table.rule.action != .keep {
                    var scan = table.users
                    while !scan.isAtEnd {
                        let session = try connected(signal)
                        let page = try scan.nextPage { sql, values throws(PostgreSQLError) in
                            try ask(sql, values, session)
                        }
                        found.formUnion(page.filter(isWanted))
                        try await clock.rest(PostgreSQLLimits.restBetweenChunks)
                    }
                }
                return .found(Array(found))
            } catch {
                let error = known(error)
                forget(after: error)
                return .failure(error.failure)
            }
        }
    }

    /// Looks through the configured schemas for what looks like user data.
    package func coverage() async -> CoverageAnswer {
        await cancellable { signal in
            do throws(PostgreSQLError) {
                let catalog = try catalog(try connected(signal))
                let claims = PostgreSQLPlanMaker.resolved(configuration.claims, catalog)
                return .findings(
                    SchemaCoverage(tables: catalog.ownTables, claims: claims).findings()
                )
            } catch {
                forget(after: error)
                return .failure(error.failure)
            }
        }
    }

    /// Makes the plan that leaves those rows alone, and drops it.
    package func check(_ filter: RowFilter) async -> FilterAnswer {
        await cancellable { signal in
            do throws(PostgreSQLError) {
                let session = try connected(signal)
                var diagnosis = PostgreSQLDiagnosis(
                    session: session,
                    configuration: configuration,
                    now: clock.wall()
                )
                _ = try diagnosis.run(try catalog(session), holds: [filter])
                return diagnosis.problems.first.map { .refused($0) } ?? .accepted
            } catch {
                forget(after: error)
                return .failure(error.failure)
            }
        }
    }

    /// Compares the configuration with the live catalogs; one sentence per problem.
    package func diagnose() async -> [String] {
        await inspect().problems
    }

    /// Without an outage of the server, which keeps no service from starting.
    package func startupProblems() async -> [String] {
        let (found, isOutage) = await look()
        return isOutage ? [] : found.problems
    }

    /// Checks everything at once.
    package func inspect() async -> TargetFindings { await look().found }

    /// Checks everything at once, and tells whether the server could not be asked.
    private func look() async -> (found: TargetFindings, isOutage: Bool) {
        await cancellable { signal in
            do throws(PostgreSQLError) {
                let session = try connected(signal)
                let catalog = try catalog(session)
                var diagnosis = PostgreSQLDiagnosis(
                    session: session,
                    configuration: configuration,
                    now: clock.wall()
                )
                (plan, plannedAt) = (try diagnosis.run(catalog), clock.uptime())
                plannedHolds = []
                let (problems, advice) = (diagnosis.problems, diagnosis.advice)
                return (TargetFindings(problems: problems, advice: advice), false)
            } catch {
                forget(after: error)
                let found = TargetFindings(problems: [error.description])
                return (found, error.failure != .misconfigured)
            }
        }
    }

    // MARK: One order

    private func purge(_ order: PurgeOrder, _ signal: CancelSignal) async throws -> PurgeAnswer {
        let (session, plan) = try ready(signal, order.holds.compactMap(\.rows))
        var purge = PostgreSQLPurge(
            session: session,
            plan: plan,
            order: order,
            configuration: configuration,
            tools: (clock: clock, hasher: hasher)
        )
        while true {
            session.signal = signal
            if case .done(let answer) = try purge.step() {
                usedAt = clock.uptime()
                return answer
            }
            try await clock.rest(PostgreSQLLimits.restBetweenChunks)
        }
    }

    func cutoff(_ order: PurgeOrder) -> String { "\(order.cutoff.unixMilliseconds)" }

    private func item(_ table: PostgreSQLTablePlan, _ rows: PostgreSQLRows?) -> PlanItem {
        let found = rows?.integer(0) ?? 0
        let isKept = table.rule.action == .keep
        let newer = isKept ? 0 : rows?.integer(1) ?? 0
        return PlanItem(
            name: table.table,
            action: table.rule.planAction,
            reason: table.rule.reason,
            count: found - newer,
            newerCount: newer,
            undatedCount: isKept ? 0 : rows?.integer(2) ?? 0,
            hasNoTimestamps: table.rule.hasNoTimestamps
        )
    }

    // MARK: Replicas

    /// What streaming replicas still hold, as far as the role may know it (`pg_read_all_stats`).
    ///
    /// One that follows at once holds nothing. The lag that the server measured last says how long
    /// the others take only if it is no less than what was waited in vain: one that has stopped
    /// keeps an old lag, or none (PostgreSQL 15, 28.2.4).
    private func replicas(_ signal: CancelSignal) async -> PurgeCounts.ResidualCopies? {
        guard let session else { return Self.replicasUnknown }
        session.signal = signal
        do {
            let written = try ask("SELECT pg_current_wal_flush_lsn()", [], session).rows.first?[0]
            let begun = clock.uptime()
            while true {
                let found = try ask(Self.replicasBehind, [written], session)
                let waited = clock.uptime() - begun
                guard found.integer(0) > 0 else { return nil }
                // What the role may not see is not waited for.
                guard found.integer(1) == 0, waited < PostgreSQLLimits.replicaWait else {
                    return residualCopies(found, waited)
                }
                try await clock.rest(PostgreSQLLimits.restBetweenChunks)
            }
        } catch {
            forget(after: known(error))
            return Self.replicasUnknown
        }
    }

    /// What is said when the server could not be asked.
    private static let replicasUnknown = PurgeCounts.ResidualCopies(
        text: "rows on replicas, if there are any",
        until: nil
    )

    /// How many replicas have not replayed a place of the log, of how many that is not known, and
    /// the longest lag of them in ms.
    ///
    /// A base backup that is being made is none.
    private static let replicasBehind = """
        SELECT count(*), count(*) FILTER (WHERE replay_lsn IS NULL),
            ceil(extract(epoch FROM max(replay_lag)) * 1000)::bigint
        FROM pg_stat_replication
        WHERE state IS DISTINCT FROM 'backup' AND (replay_lsn IS NULL OR replay_lsn < $1::pg_lsn)
        """

    private func residualCopies(
        _ rows: PostgreSQLRows,
        _ waited: Duration
    ) -> PurgeCounts.ResidualCopies {
        let lag = rows.rows.first?[2] == nil ? nil : Duration.milliseconds(rows.integer(2))
        let isKnown = rows.integer(1) == 0
        return PurgeCounts.ResidualCopies(
            text: "rows on \(rows.integer(0)) replicas, until they have replayed the deletion",
            until: lag.flatMap { isKnown && $0 >= waited ? clock.wall() + $0 : nil }
        )
    }

    /// What the server's own files hold for a while (PostgreSQL 15, 25.1.2 and 30.5).
    private var residualCopies: PurgeCounts.ResidualCopies {
        PurgeCounts.ResidualCopies(
            text: "dead rows, until VACUUM has passed and their space is written over, and the"
                + " write-ahead log, until it is recycled",
            until: configuration.residualCopiesKept.map { clock.wall() + $0 }
        )
    }

    // MARK: Session

    private func open(_ signal: CancelSignal) throws(PostgreSQLError) -> PostgreSQLSession {
        let session = try PostgreSQLSession.open(
            configuration,
            proofKey: MaskText.proofKey(hasher),
            signal: signal,
            uptime: clock.uptime
        )
        session.beforeStatement = beforeStatement
        return session
    }

    private func connected(_ signal: CancelSignal) throws(PostgreSQLError) -> PostgreSQLSession {
        let now = clock.uptime()
        if let session, now - usedAt < PostgreSQLLimits.sessionIdle {
            session.signal = signal
            usedAt = now
            return session
        }
        session = nil
        let opened = try open(signal)
        (session, usedAt) = (opened, clock.uptime())
        return opened
    }

    func ready(
        _ signal: CancelSignal,
        _ holds: [RowFilter] = []
    ) throws(PostgreSQLError) -> (session: PostgreSQLSession, plan: PostgreSQLPlan) {
        let session = try connected(signal)
        let now = clock.uptime()
        if let plan, holds == plannedHolds, now - plannedAt < PostgreSQLLimits.planLifetime {
            return (session, plan)
        }
        var maker = PostgreSQLPlanMaker(
            rules: configuration.workRules(holds: holds),
            catalog: try catalog(session)
        )
        guard let made = maker.make() else {
            throw PostgreSQLError(.planRefused, target: name)
        }
        (plan, plannedAt, plannedHolds) = (made, now, holds)
        return (session, made)
    }

    private func catalog(
        _ session: PostgreSQLSession
    ) throws(PostgreSQLError) -> PostgreSQLCatalog {
        try PostgreSQLCatalog(
            session,
            schemas: configuration.schemas,
            within: configuration.statementTimeout
        )
    }

    func ask(
        _ sql: String,
        _ values: [String?],
        _ session: PostgreSQLSession
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        try session.query(sql, values, within: configuration.statementTimeout)
    }

    private func run(_ sql: String, _ session: PostgreSQLSession) throws(PostgreSQLError) {
        _ = try ask(sql, [], session)
    }

    private func known(_ error: any Error) -> PostgreSQLError {
        error as? PostgreSQLError ?? PostgreSQLError(.cancelled, target: name)
    }

    func forget(after error: PostgreSQLError) {
        if error.endsPlan { plan = nil }
        if error.endsSession { session = nil }
    }

    /// Lets a cancellation of the task wake the thread that waits for the server.
    func cancellable<Answer: Sendable>(
        _ body: (CancelSignal) async -> Answer
    ) async -> Answer {
        let signal = CancelSignal()
        return await withTaskCancellationHandler {
            await body(signal)
        } onCancel: {
            signal.fire()
        }
    }
}
