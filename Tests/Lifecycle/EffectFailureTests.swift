import Lifecycle
import Testing

/// Nothing that goes wrong is ever a verdict or a completed step.
struct FailureTests {
    static let failures: [EffectFailure] = [
        .unreachable, .throttled(retryAfter: nil), .throttled(retryAfter: .seconds(60)), .lost,
        .unusable, .misconfigured, .sealBroken, .vaultSealed, .keys(.unfit), .rejected,
    ]

    /// A place where an answer is awaited, and what each failure makes of it.
    static let rows: [(PhaseRow, [String])] = [
        // unreachable, throttled, throttled 60 s, lost, unusable, misconfigured, sealBroken,
        // vaultSealed, keys that are unfit, rejected
        (.open(.checking), revoking),
        (.open(.revoking), revoking),
        (.open(.confirming), confirming),
        (
            .open(.purging),
            [
                "stays", "stays", "stays", "stays", "stays",
                "purging/store_paused +pauseStore +parked", "stays", "stays", "stays", "stays",
            ]
        ),
        (
            .open(.verifying),
            [
                "stays", "stays", "stays", "stays", "stays",
                "verifying/store_paused +pauseStore +parked", "stays", "stays", "stays", "stays",
            ]
        ),
    ]

    static let revoking = [
        "stays", "stays", "stays", "stays", "stays",
        "revoking/provider_paused +pauseProvider +parked",
        "revoking/needs_reauthentication +sealBroken +parked",
        "revoking/vault_sealed +keyMissing +parked", "stays", "stays",
    ]

    /// A lost answer may have spent the budget for asking: the revoke counts without proof then.
    static let confirming =
        Array(revoking.prefix(3)) + ["purging +accepted +purgeStarted +purge"]
        + Array(revoking.suffix(6))

    @Test("what blocks a purge is kept until it is overcome, and announced once for each obstacle")
    func obstacles() throws {
        let row = PhaseRow.open(.purging)
        var machine = try row.machine(.deleteAccount)
        let key = Obstacle(.foreignKey, at: "posts", name: "posts_author")
        let trigger = Obstacle(.trigger, at: "posts", name: "keep")
        for (obstacle, isNew) in [(key, true), (key, false), (trigger, true), (key, true)] {
            let told = try machine.answer(purge: .failure(.blocked(obstacle)))
            #expect(
                told == (isNew ? [.announce(.blocked(Sample.database, obstacle))] : [])
            )
            let work = try #require(machine.request.purges.first)
            #expect(work.lastFailure == obstacle.kind.rawValue && work.obstacle == obstacle.text)
            #expect(work.retryAt != nil && !machine.request.phase.isEnded)
            #expect(try machine.sendDue() == [.purge(Sample.database)])
        }
        try machine.answer(purge: .failure(.unreachable))
        #expect(machine.request.purges[0].obstacle == nil)
        try machine.sendDue()
        try machine.answer(purge: .done(PurgeCounts()))
        let told = try machine.answer(verify: .failure(.blocked(key)))
        #expect(told == [.announce(.blocked(Sample.database, key))])
        #expect(machine.request.purges[0].obstacle == "foreign key 'posts_author' of 'posts'")
        try machine.sendDue()
        try machine.answer(verify: .clean)
        #expect(machine.request.purges[0].obstacle == nil && machine.request.phase == .completed)
    }

    @Test("failure is a later try, a pause or a credential less", arguments: rows)
    func failure(in row: PhaseRow, _ expected: [String]) throws {
        let machine = try row.machine(.deleteAccount)
        for (failure, text) in zip(Self.failures, expected) {
            let event = try #require(row.answer(failure))
            #expect(Outcome(of: event, on: machine).text == text, "\(row.name): \(failure)")
            var stepped = machine
            try stepped.send(event)
            let spendsBudget = row == .open(.confirming) && failure == .lost
            #expect(stepped.verdict == (spendsBudget ? .accepted : machine.verdict))
            #expect(!stepped.request.isBusy || spendsBudget)
        }
        #expect(expected.count == Self.failures.count)
    }

    @Test func `a token whose key is missing waits for the key and burns nothing`() throws {
        for row in [PhaseRow.open(.checking), .open(.revoking), .open(.confirming)] {
            var machine = try row.machine(.deleteAccount)
            let before = machine.request.revocations[0]
            try machine.send(try #require(row.answer(.vaultSealed)))
            #expect(machine.request.phase == .parked(.revoking, .vaultSealed, until: nil))
            #expect(machine.request.revocations[0].credentials == before.credentials)
            #expect(machine.request.revocations[0].attempts == before.attempts - 1)
            #expect(machine.request.dueAt == nil)
            #expect(try machine.send(.due) == [])
            #expect(try machine.send(.retry).count == 2)
            // What a restart reads back.
            machine.request.revocations[0].isBusy = false
            try machine.send(try #require(row.answer(.vaultSealed)))
            machine.request.revocations[0].isKeyMissing = false
            #expect(try machine.send(.due).count == 2)
        }
    }

    @Test(
        "a retry comes later, never before Retry-After",
        arguments: [PhaseRow.open(.checking), .open(.revoking), .open(.purging)]
    )
    func retry(in row: PhaseRow) throws {
        var machine = try row.machine(.deleteAccount)
        try machine.send(try #require(row.answer(.throttled(retryAfter: .seconds(60)))))
        let dueAt = try #require(machine.request.dueAt)
        #expect(dueAt >= machine.now + .seconds(60))
        #expect(dueAt <= machine.now + .seconds(120))
        #expect(try machine.sendDue().count == 1)
    }

    @Test func `configuration errors burn no attempt, other failure does`() throws {
        var machine = try PhaseRow.open(.checking).machine(.deleteAccount)
        try machine.answer(check: .failure(.misconfigured))
        #expect(machine.request.revocations[0].attempts == 0)
        #expect(machine.request.revocations[0].failures == 0)
        machine = try PhaseRow.open(.checking).machine(.deleteAccount)
        try machine.answer(check: .failure(.notConfigured(client: "app")))
        #expect(machine.request.revocations[0].attempts == 0)
        #expect(machine.request.revocations[0].failures == 1)
        machine = try PhaseRow.open(.checking).machine(.deleteAccount)
        try machine.answer(check: .failure(.unreachable))
        #expect(machine.request.revocations[0].attempts == 1)
        #expect(machine.request.revocations[0].failures == 1)
        machine = try PhaseRow.open(.purging).machine(.deleteAccount)
        try machine.answer(purge: .failure(.misconfigured))
        #expect(machine.request.purges[0].attempts == 0)
    }

    @Test func `a postponed call gives its attempt back and waits`() throws {
        for (row, effect) in [
            (PhaseRow.open(.checking), RequestEffect.check), (.open(.revoking), .revoke),
            (.open(.confirming), .confirm),
        ] {
            var machine = try row.machine(.deleteAccount)
            let attempts = machine.request.revocations[0].attempts
            let until = machine.now + .seconds(60)
            try machine.send(.postponed(effect, until: until))
            #expect(machine.request.revocations[0].attempts == attempts - 1)
            #expect(machine.request.revocations[0].failures == 0)
            #expect(machine.request.dueAt == until)
            #expect(try machine.sendDue() == [effect])
        }
    }

    @Test func `a postponed purge gives its attempt back and waits`() throws {
        for (row, effect) in [
            (PhaseRow.open(.purging), RequestEffect.purge(Sample.database)),
            (.open(.verifying), .verify(Sample.database)),
        ] {
            var machine = try row.machine(.deleteAccount)
            let attempts = machine.request.purges[0].attempts
            let until = machine.now + .seconds(60)
            try machine.send(.postponed(effect, until: until))
            #expect(machine.request.purges[0].attempts == attempts - 1)
            #expect(machine.request.dueAt == until)
            #expect(try machine.sendDue() == [effect])
        }
    }

    @Test func `rows that come back after each purge are an obstacle, told once, with its table`()
        throws
    {
        var machine = try PhaseRow.open(.verifying).machine(.deleteAccount)
        let pass = PurgeCounts(entries: [.init(name: "posts", action: .rule(.delete), rowCount: 1)])
        var update: [RequestEffect] = []
        var delays: [Duration] = []
        for _ in 1...12 {
            update += try machine.answer(verify: .remaining(1))
            delays.append(try #require(machine.request.dueAt).since(machine.now))
            #expect(try machine.sendDue() == [.purge(Sample.database)])
            try machine.answer(purge: .done(pass))
            #expect(machine.request.purges[0].lastFailure == "remaining_rows")
        }
        let found = Obstacle(.remaining, at: "posts")
        #expect(
            update == [
                .announce(.remainingRows(Sample.database)),
                .announce(.blocked(Sample.database, found)),
            ]
        )
        #expect(machine.request.purges[0].obstacle == found.text)
        #expect(found.text == "rows of 'posts' are there again after each purge")
        #expect(delays[0] <= Limits.backoffBase, "what comes once is gone quickly")
        #expect(try #require(delays.max()) > .seconds(30), "and the delays grow")
        try machine.answer(verify: .clean)
        #expect(machine.request.purges[0].obstacle == nil)
        #expect(machine.request.purges[0].failures == 0)
    }

    @Test func `locked rows are purged again soon, and told once when they stay locked`() throws {
        var machine = try PhaseRow.open(.verifying).machine(.deleteAccount)
        for round in 1...20 {
            // The application locks now more, now fewer of them.
            let found = Obstacle(locked: round % 3 + 1, at: "posts")
            let told = try machine.answer(verify: .failure(.blocked(found)))
            let isTold = round == Limits.lockedTries
            #expect(told == (isTold ? [.announce(.blocked(Sample.database, found))] : []))
            let work = machine.request.purges[0]
            #expect(work.lastFailure == "locked_rows" && work.step == .waiting)
            #expect(work.obstacle == (round < Limits.lockedTries ? nil : found.text))
            #expect(try #require(work.retryAt).since(machine.now) <= .seconds(30))
            #expect(try machine.sendDue() == [.purge(Sample.database)])
            #expect(
                try machine.answer(purge: .done(PurgeCounts())) == [.verify(Sample.database)]
            )
            #expect(machine.request.purges[0].obstacle == work.obstacle)
        }
        try machine.answer(verify: .clean)
        #expect(machine.request.purges[0].obstacle == nil && machine.request.phase == .completed)
    }

    @Test func `tries that find rows locked count on after each load of the request`() throws {
        var machine = try PhaseRow.open(.verifying).machine(.deleteAccount)
        let found = Obstacle(locked: 1, at: "posts")
        var announced: [Int] = []
        for round in 1...20 {
            let effects = try machine.answer(verify: .failure(.blocked(found)))
            if !effects.isEmpty { announced.append(round) }
            machine.reload()
            try machine.sendDue()
            try machine.answer(purge: .done(PurgeCounts()))
            machine.reload()
        }
        #expect(announced == [Limits.lockedTries])
    }

    @Test func `other failures do not count as tries that find rows locked`() throws {
        var machine = try PhaseRow.open(.verifying).machine(.deleteAccount)
        for _ in 1...Limits.lockedTries {
            try machine.answer(verify: .failure(.unreachable))
            try machine.sendDue()
        }
        let found = EffectFailure.blocked(Obstacle(locked: 1, at: "posts"))
        #expect(try machine.answer(verify: .failure(found)).isEmpty)
        #expect(machine.request.purges[0].obstacle == nil)
    }

    @Test(arguments: [
        (1, "1 row of 'posts' is locked by another transaction"),
        (3, "3 rows of 'posts' are locked by another transaction"),
    ])
    func `locked rows are counted`(count: Int, text: String) {
        #expect(Obstacle(locked: count, at: "posts").text == text)
    }

    @Test func `fewer rows after each purge are progress, and the purge goes on at once`() throws {
        var machine = try PhaseRow.open(.verifying).machine(.deleteAccount)
        for round in 0..<20 {
            let effects = try machine.answer(verify: .remaining(100 - round))
            #expect(effects == [.announce(.remainingRows(Sample.database))])
            let delay = try #require(machine.request.dueAt).since(machine.now)
            #expect(delay <= Limits.backoffBase)
            try machine.sendDue()
            try machine.answer(purge: .done(PurgeCounts()))
        }
    }

    @Test func `what a purge did before a reload ended it counts, and the rest is purged anew`()
        throws
    {
        var machine = try PhaseRow.open(.purging).machine(.deleteAccount)
        let pass = PurgeCounts(entries: [.init(name: "posts", action: .rule(.delete), rowCount: 2)])
        #expect(try machine.answer(purge: .halted(pass)) == [.purge(Sample.database)])
        #expect(try machine.answer(purge: .done(pass)) == [.verify(Sample.database)])
        #expect(machine.request.purges[0].counts.workedCount == 4)
        #expect(!machine.request.purges[0].counts.isAtLeast)
    }

    @Test func `remaining rows mean purging again, however often`() throws {
        var machine = try PhaseRow.open(.verifying).machine(.deleteAccount)
        let blocked = RequestEffect.announce(
            .blocked(Sample.database, Obstacle(.remaining))
        )
        for round in 1...3 {
            let effects = try machine.answer(verify: .remaining(round))
            let first = RequestEffect.announce(.remainingRows(Sample.database))
            #expect(effects == (round == 1 ? [first] : round == 2 ? [blocked] : []))
            #expect(machine.request.phase == .open(.purging))
            #expect(try machine.sendDue() == [.purge(Sample.database)])
            #expect(
                try machine.answer(purge: .done(PurgeCounts())) == [.verify(Sample.database)]
            )
        }
        try machine.answer(verify: .clean)
        #expect(machine.request.phase == .completed)
    }

    @Test func `stores are purged in order, and each is verified`() throws {
        var machine = Machine(identities: [], stores: [Sample.database, Sample.files])
        #expect(try machine.send(.due).last == .purge(Sample.database))
        #expect(try machine.answer(purge: .done(PurgeCounts())) == [.purge(Sample.files)])
        #expect(
            try machine.answer(purge: .done(PurgeCounts()), Sample.files)
                == [.verify(Sample.database)]
        )
        #expect(try machine.answer(verify: .clean) == [.verify(Sample.files)])
        #expect(try machine.answer(verify: .remaining(1), Sample.files).count == 1)
        #expect(machine.request.phase == .open(.purging))
        #expect(try machine.sendDue() == [.purge(Sample.files)])
        try machine.answer(purge: .done(PurgeCounts()), Sample.files)
        #expect(
            try machine.answer(verify: .clean, Sample.files) == [.announce(.completed)]
        )
    }

    @Test func `counts of passes add up, and newer rows are counted once`() throws {
        let pass = PurgeCounts(entries: [
            PurgeCounts.Entry(name: "posts", action: .rule(.delete), rowCount: 2, newerCount: 1)
        ])
        var machine = try PhaseRow.open(.purging).machine(.deleteAccount)
        try machine.answer(purge: .done(pass))
        try machine.answer(verify: .remaining(1))
        try machine.sendDue()
        try machine.answer(purge: .done(pass))
        let entry = try #require(machine.request.purges[0].counts.entries.first)
        #expect(entry.rowCount == 4)
        #expect(entry.newerCount == 1)
    }
}

extension PhaseRow {
    /// The answer with `failure` to the call that is under way.
    fileprivate func answer(_ failure: EffectFailure) -> RequestEvent? {
        switch self {
        case .open(.checking): .checked(Sample.identity, Sample.token, .failure(failure))
        case .open(.revoking): .revoked(Sample.identity, Sample.token, .failure(failure))
        case .open(.confirming): .confirmed(Sample.identity, Sample.token, .failure(failure))
        case .open(.purging): .purged(Sample.database, .failure(failure))
        case .open(.verifying): .verified(Sample.database, .failure(failure))
        default: nil
        }
    }
}

extension Machine {
    /// Leaves of the purges what is stored, as an engine does that has evicted the request.
    fileprivate mutating func reload() {
        request.purges = request.purges.map { work in
            var stored = PurgeWork(store: work.store)
            (stored.step, stored.counts, stored.attempts) = (work.step, work.counts, work.attempts)
            (stored.retry, stored.obstacle) = (work.retry, work.obstacle)
            (stored.startedAt, stored.endedAt) = (work.startedAt, work.endedAt)
            (stored.restoredAt, stored.judgedAt) = (work.restoredAt, work.judgedAt)
            (stored.isBusy, stored.fewestLeft) = (work.isBusy, work.fewestLeft)
            return stored
        }
    }
}
