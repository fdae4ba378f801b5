import Engine
import Lifecycle

/// A database of the application at a server, purged in short transactions beside its owner.
///
/// Every problem is an answer. A constraint or trigger that stops one order is that order's failure
/// alone; what concerns the server ends the call for the orders not yet answered.
actor SQLSessionStore<Session: SQLSession>: UserListing, RowHolding, CoverageSearching,
    RuleSuggesting, KeySource
{
    nonisolated let name: StoreName
    let configuration: Session.Configuration
    private let nonCanonical: NonCanonicalID
    private let hasher: any KeyedHasher
    let clock: StoreClock
    private let queue: BlockingQueue
    private let beforeStatement: (@Sendable (String) -> Bool)?

    private var session: Session?
    private var usedAt = Duration.zero
    /// By what they leave alone: one for nothing, one for the last holds.
    private var plans: [[RowFilter]: DatedPlan<Session.Dialect>] = [:]
    private var reached = ReachedRules()

    /// The queue on which everything here runs: waiting for a server holds no thread of others.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }

    /// `beforeStatement` answers false to cut the connection instead of the statement.
    init(
        plan: Session.Configuration,
        hasher: any KeyedHasher,
        clock: StoreClock,
        beforeStatement: (@Sendable (String) -> Bool)? = nil
    ) {
        name = plan.name
        configuration = plan
        nonCanonical = NonCanonicalID(plan.rules)
        self.hasher = hasher
        self.clock = clock
        self.beforeStatement = beforeStatement
        queue = BlockingQueue(label: "expunged.\(Session.kind).\(plan.name)")
    }

    func shutdown() async {}

    // MARK: Purge

    /// Deletes and masks, one user after the other, several with few rows in one transaction.
    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let fit = nonCanonical.fit(orders)
        let purged = await purgeSpelled(fit)
        reached.forget(fit, purged)
        return nonCanonical.merged(await takingBackUnreached(purged), orders) { .failure($0) }
    }

    private func purgeSpelled(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await cancellable { signal in
            var answers: [PurgeAnswer] = []
            var tries = 0
            // Where several failed together, each gets an answer of its own.
            var isAlone = orders.count == 1
            while answers.count < orders.count {
                guard !orders[answers.count].isStopped else {
                    answers.append(.stopped)
                    continue
                }
                let hadSession = session != nil
                do {
                    let rest = orders[answers.count...]
                    answers += try await purge(isAlone ? rest.prefix(1) : rest, signal)
                    tries = 0
                } catch {
                    var error = forget(after: error)
                    tries += 1
                    // A session that stood idle may be gone; a plan may be older than the schema.
                    let isStale = hadSession && error.kind == .lost
                    if tries == 1, error.kind == .schemaChanged || isStale { continue }
                    // The plan is new, so what is not there is named by a trigger.
                    if error.kind == .schemaChanged {
                        error = SQLError(.constraint, store: name, Obstacle(.trigger))
                    }
                    if error.obstacle == nil { orders[0].gate?.note(error.cause) }
                    guard error.concernsOneOrder else {
                        return answers.map { $0.noting([residualCopies, .replicasUnknown]) }
                            + orders[answers.count...].map { _ in .failure(error.failure) }
                    }
                    tries = 0
                    if isAlone { answers.append(.failure(error.failure)) }
                    isAlone = true
                }
            }
            let copies = [residualCopies] + [await replicas(signal)].compactMap(\.self)
            return answers.map { $0.noting(copies) }
        }
    }

    /// Purges the first of the orders, and others in the same transaction while it is short.
    ///
    /// - Returns: An answer for each order that is committed; at least one.
    private func purge(
        _ orders: ArraySlice<PurgeOrder>,
        _ signal: CancelSignal
    ) async throws -> [PurgeAnswer] {
        guard let first = orders.first else { return [] }
        let holds = first.holds.compactMap(\.rows)
        let (session, plan) = try ready(signal, holds)
        let start = clock.uptime()
        // Outside of the transaction, which a timeout would end, and just before it.
        var notes: [[PurgeCounts.Entry]] = []
        for order in orders
        where notes.isEmpty || clock.uptime() - start < SQLLimits.groupGoal {
            notes.append(try session.look(at: order, plan, name))
        }
        var answers: [PurgeAnswer] = []
        var purge = self.purge(of: first, session, plan)
        purge.counts.entries = notes[0]
        let begun = clock.uptime()
        try session.writing(plan, &purge) { purge throws(SQLError) in
            for (order, entries) in zip(orders, notes) {
                if !answers.isEmpty {
                    let isLong = clock.uptime() - begun >= SQLLimits.groupGoal
                    guard !isLong, !order.isStopped, order.holds.compactMap(\.rows) == holds
                    else { return }
                    purge = self.purge(of: order, session, plan)
                    purge.counts.entries = entries
                }
                guard let answer = try purge.step() else { return }
                answers.append(answer)
            }
        }
        usedAt = clock.uptime()
        guard !purge.isOver else { return answers }
        reached[purge.order] = purge.reached
        do {
            return answers + [try await finish(&purge, session, plan, signal)]
        } catch {
            // Its turn comes again, after those that are done.
            guard !answers.isEmpty else { throw error }
            forget(after: error)
            return answers
        }
    }

    /// Purges on in transactions of its own, with rests between them.
    private func finish(
        _ purge: inout SQLSessionPurge<Session>,
        _ session: Session,
        _ plan: SQLPlan<Session.Dialect>,
        _ signal: CancelSignal
    ) async throws -> PurgeAnswer {
        while true {
            try await clock.rest(SQLLimits.serverRest)
            session.signal = signal
            var answer: PurgeAnswer?
            try session.writing(plan, &purge) { purge throws(SQLError) in
                answer = try purge.step()
            }
            usedAt = clock.uptime()
            reached[purge.order] = purge.reached
            if let answer { return answer }
        }
    }

    private func purge(
        of order: PurgeOrder,
        _ session: Session,
        _ plan: SQLPlan<Session.Dialect>
    ) -> SQLSessionPurge<Session> {
        SQLSessionPurge(
            session: session,
            plan: plan,
            order: order,
            store: name,
            uptime: clock.uptime,
            masks: ServerMasks(hasher: hasher, entropy: clock.entropy),
            reached: reached[order]
        )
    }

    /// What streaming replicas still hold, as far as the role may know it.
    ///
    /// One that follows at once holds nothing. The lag that the server measured last bounds the
    /// wait only if it is no less than what was waited in vain: one that has stopped keeps an old
    /// lag, or none (PostgreSQL 15, 28.2.4).
    private func replicas(_ signal: CancelSignal) async -> PurgeCounts.ResidualCopies? {
        guard let session else { return .replicasUnknown }
        session.signal = signal
        do {
            let place = try session.logPlace()
            let begun = clock.uptime()
            while true {
                guard let found = try session.replicas(behind: place) else {
                    return .replicasUnknown
                }
                let waited = clock.uptime() - begun
                guard found.count > 0 else { return nil }
                // What the role may not see is not waited for.
                guard found.isKnown, waited < Session.replicaWait else {
                    let lag = found.isKnown ? found.lag.flatMap { $0 >= waited ? $0 : nil } : nil
                    return PurgeCounts.ResidualCopies(
                        .laggingReplicas,
                        "\(found.count)",
                        until: lag.map { clock.wall() + $0 }
                    )
                }
                try await clock.rest(SQLLimits.restBetweenChunks)
            }
        } catch {
            forget(after: error)
            return .replicasUnknown
        }
    }

    private var residualCopies: PurgeCounts.ResidualCopies {
        let end = configuration.residualCopiesKept.map { clock.wall() + $0 }
        return PurgeCounts.ResidualCopies(Session.residualCopies, until: end)
    }

    // MARK: Verification and plan

    /// Counts what is left by other queries, in one snapshot of a session of its own.
    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        let fit = nonCanonical.fit(orders)
        let failed = { Array(repeating: VerifyAnswer.failure($0), count: fit.count) }
        let answers = await answering(failed) { signal throws(SQLError) in
            let plan = try ready(signal).plan
            let session = try open(signal)
            try session.run(Session.beginVerification)
            var answers = try fit.map { order throws(SQLError) in
                try session.verify(order, plan, at: clock.wall())
            }
            try session.end(.commit)
            session.explain(&answers, of: fit, plan)
            return answers
        }
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    /// Counts the user's rows table by table, each in one statement: a reader holds up no writer.
    func plan(_ order: PurgeOrder) async -> PlanAnswer {
        guard !nonCanonical.concerns(order) else { return .failure(nonCanonical.failure(order)) }
        return await answering(PlanAnswer.failure) { signal throws(SQLError) in
            let (session, plan) = try ready(signal)
            var items: [PlanItem] = []
            for table in plan.tables {
                var counts = [0, 0, 0]
                if let user = table.root.key(for: order.user) {
                    let parameters = SQLParameters.of(user, time: order.cutoff)
                    counts = try session.integers(table.planSQL, parameters, in: table.table)
                }
                let item = table.item(found: counts[0], newer: counts[1], undated: counts[2])
                items += [item].compactMap(\.self)
            }
            return .items(items)
        }
    }

    // MARK: Users and keys

    /// Goes through every table of which something is erased, page by page.
    func users(where isWanted: @escaping @Sendable (UserID) -> Bool) async -> UsersAnswer {
        await cancellable { signal in
            do {
                var found: Set<UserID> = []
                for start in try ready(signal).plan.userScans {
                    var scan = start
                    while !scan.isAtEnd {
                        let session = try connected(signal)
                        found.formUnion(try scan.next(session.rows).filter(isWanted))
                        try await clock.rest(SQLLimits.restBetweenChunks)
                    }
                }
                return .found(Array(found))
            } catch {
                return .failure(forget(after: error).failure)
            }
        }
    }

    /// Reads the ids in users' rows.
    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        var answers: [KeysAnswer] = []
        for order in orders {
            let answer = await answering(KeysAnswer.failure) { signal throws(SQLError) in
                let (session, plan) = try keyed(key, signal)
                return try session.ids(plan, of: order)
            }
            answers.append(answer)
        }
        return answers
    }

    /// Counts the rows that name each id; every count sees what was committed before it.
    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        await answering(OwnersAnswer.failure) { signal throws(SQLError) in
            var named: Set<UserID> = []
            for id in ids {
                let (session, plan) = try keyed(key, signal)
                if try session.isNamed(id, plan, besides: orders) { named.insert(id) }
            }
            return .named(named)
        }
    }

    private func keyed(
        _ name: String,
        _ signal: CancelSignal
    ) throws(SQLError) -> (session: Session, key: KeyPlan) {
        let (session, plan) = try ready(signal)
        guard let key = plan.key(name) else { throw SQLError(.planRefused, store: self.name) }
        return (session, key)
    }

    // MARK: Check

    /// Makes the plan that leaves those rows alone, and drops it.
    func check(_ filter: RowFilter) async -> FilterAnswer {
        await answering(FilterAnswer.failure) { signal throws(SQLError) in
            let found = try diagnose(signal, [filter]).found
            return found.problems.first.map { .refused($0.description) } ?? .accepted
        }
    }

    /// Compares the configuration with the live schema.
    func inspect(withOutages: Bool) async -> StoreFindings {
        await cancellable { signal in
            do throws(SQLError) {
                let begun = clock.uptime()
                let (found, plan) = try diagnose(signal)
                try adopt(plan, since: begun, [])
                if withOutages, plan != nil { await noteOrphans() }
                return found.findings
            } catch {
                let isOutage = forget(after: error).failure != .misconfigured
                return StoreFindings(problems: isOutage && !withOutages ? [] : [error.description])
            }
        }
    }

    private func diagnose(
        _ signal: CancelSignal,
        _ holds: [RowFilter] = []
    ) throws(SQLError) -> (found: SQLFindings, plan: SQLPlan<Session.Dialect>?) {
        let session = try connected(signal)
        let schema = try session.schema()
        var found = SQLFindings()
        try session.checkServer(&found)
        var maker = SQLPlanMaker<Session.Dialect>(configuration.workRules(holds: holds), schema)
        let plan = maker.make()
        found.add(maker.found)
        guard let plan else { return (found, nil) }
        for table in plan.tables {
            found.section = maker.section(of: table.rule)
            let shape = schema.table(table.table)
            let grant = shape?.grant(for: table.rule, Session.Dialect.self) { $0 == nil }
            let samples = (user: table.root.sample, key: BoundValue?.none)
            try session.tryOut(table.statements, of: table.table, samples, &found, grant: grant)
            guard let shape else { continue }
            try session.checkTimes(table.rule, shape, at: clock.wall(), &found)
        }
        for key in plan.keys {
            found.section = maker.section(of: key.rule)
            let samples = (key.root.sample, key.rule.valueType.sample)
            try session.tryOut(key.statements, of: key.table, samples, &found)
        }
        do throws(SQLError) {
            for table in plan.tables {
                guard let shape = schema.table(table.table) else { continue }
                try session.checkPresence(of: table.rule, shape, &found)
            }
            for key in plan.keys {
                guard let shape = schema.table(key.table) else { continue }
                try session.checkKeys(of: key.rule, shape, &found)
            }
            for key in maker.blocking {
                guard let shape = schema.table(key.table) else { continue }
                try session.check(key, shape, &found)
            }
        } catch {
            guard error.kind == .timeout else { throw error }
            dropSession()
            found.advise(SQLFindings.searchTooLong)
        }
        return (found, found.problems.isEmpty ? plan : nil)
    }

    // MARK: Session

    /// The next call opens another one.
    func dropSession() { session = nil }

    private func open(_ signal: CancelSignal) throws(SQLError) -> Session {
        let session = try Session.open(
            configuration,
            proofKey: MaskText.proofKey(hasher),
            signal: signal,
            uptime: clock.uptime
        )
        session.beforeStatement = beforeStatement
        return session
    }

    func connected(_ signal: CancelSignal) throws(SQLError) -> Session {
        let now = clock.uptime()
        if let session, now - usedAt < Session.idleMax {
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
    ) throws(SQLError) -> (session: Session, plan: SQLPlan<Session.Dialect>) {
        let session = try connected(signal)
        let now = clock.uptime()
        if let known = plans[holds], now - known.at < known.lifetime,
            try session.mark(of: known.plan.references) == known.mark
        {
            return (session, known.plan)
        }
        let rules = configuration.workRules(holds: holds)
        var maker = SQLPlanMaker<Session.Dialect>(rules, try session.schema())
        guard let made = maker.make() else { throw SQLError(.planRefused, store: name) }
        try adopt(made, since: now, holds)
        return (session, made)
    }

    /// Works by a plan for which the schema was read since then.
    private func adopt(
        _ made: SQLPlan<Session.Dialect>?,
        since begun: Duration,
        _ holds: [RowFilter]
    ) throws(SQLError) {
        plans = made == nil ? [:] : plans.filter { holds.isEmpty || $0.key.isEmpty }
        guard let made else { return }
        let mark = try session?.mark(of: made.references) ?? ""
        let lifetime = SQLLimits.planLifetime(afterReadingFor: clock.uptime() - begun)
        plans[holds] = DatedPlan(plan: made, at: begun, lifetime: lifetime, mark: mark)
    }

    @discardableResult
    private func forget(after error: any Error) -> SQLError {
        let error = error as? SQLError ?? SQLError(.cancelled, store: name)
        if error.rest != .planAndConnection { plans = [:] }
        // A new session may have what the trigger lacked, such as a search path.
        if error.rest == .nothing || error.obstacle?.kind == .trigger { session = nil }
        return error
    }

    /// Answers what `body` returns, or the failure.
    func answering<Answer: Sendable>(
        _ failed: (EffectFailure) -> Answer,
        _ body: (CancelSignal) throws(SQLError) -> Answer
    ) async -> Answer {
        await cancellable { signal in
            do throws(SQLError) {
                return try body(signal)
            } catch {
                return failed(forget(after: error).failure)
            }
        }
    }

    /// Lets a cancellation of the task wake the thread that waits for the server.
    private func cancellable<Answer: Sendable>(
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

extension PurgeCounts.ResidualCopies {
    /// The server could not be asked.
    fileprivate static let replicasUnknown = Self(.unknownReplicas, until: nil)
}
