import Lifecycle
import Testing

/// What operators and applications may still do, and when it is too late.
struct OperationTests {
    @Test func `a deletion may be cancelled until the purge begins`() throws {
        let early: [PhaseRow] = [
            .open(.accepted), .open(.scheduled), .open(.checking), .open(.revoking),
            .open(.confirming), .open(.waiting), .open(.code), .parked(.revoking, .onHold),
            .parked(.purging, .massDeletionGuard),
        ]
        for row in early {
            var machine = try row.machine(.deleteAccount)
            #expect(try machine.send(.cancel) == [.announce(.cancelled)], "\(row.name)")
            #expect(machine.request.phase == .cancelled)
            #expect(machine.request.endedAt == machine.now)
            #expect(machine.request.dueAt == nil)
        }
        for row in [PhaseRow.open(.purging), .open(.verifying), .parked(.purging, .onHold)] {
            var machine = try row.machine(.deleteAccount)
            #expect(throws: OperationRefusal.tooLate, "\(row.name)") {
                try machine.send(.cancel)
            }
        }
    }

    @Test func `a revocation may be cancelled until the first revoke intent`() throws {
        for row in [PhaseRow.open(.accepted), .open(.checking), .open(.waiting), .open(.code)] {
            var machine = try row.machine(.revokeTokens)
            #expect(try machine.send(.cancel) == [.announce(.cancelled)], "\(row.name)")
        }
        for row in [PhaseRow.open(.revoking), .open(.confirming)] {
            var machine = try row.machine(.revokeTokens)
            #expect(throws: OperationRefusal.tooLate, "\(row.name)") {
                try machine.send(.cancel)
            }
        }
    }

    @Test func `a token that outlived its revoke keeps the cancel too late`() throws {
        var machine = try PhaseRow.open(.confirming).machine(.revokeTokens)
        try machine.answer(confirm: .live)
        #expect(machine.request.revocations[0].credentials[0].step == .stored)
        #expect(throws: OperationRefusal.tooLate) { try machine.send(.cancel) }
    }

    @Test func `a revoke that was refused keeps the cancel too late`() throws {
        let tokens = [Sample.credential(), Sample.credential(id: Sample.secondToken)]
        var machine = Machine(
            .revokeTokens,
            identities: [Sample.snapshot(tokens)],
            in: Sample.environment(Sample.traits(canCheck: false))
        )
        try machine.send(.due)
        machine.environment.pausedProviders = [Sample.apple]
        try machine.answer(revoke: .alreadyInvalid)
        #expect(machine.request.revocations[0].credentials[0].step == .dead)
        #expect(throws: OperationRefusal.tooLate) { try machine.send(.cancel) }
    }

    @Test func `a token that was found dead by asking keeps the cancel open`() throws {
        let tokens = [Sample.credential(), Sample.credential(id: Sample.secondToken)]
        var machine = Machine(.revokeTokens, identities: [Sample.snapshot(tokens)])
        try machine.send(.due)
        machine.environment.pausedProviders = [Sample.apple]
        try machine.answer(check: .dead)
        try machine.send(.cancel)
        #expect(machine.request.phase == .cancelled)
    }

    @Test func `a token that became unreadable after the intent keeps the cancel too late`() throws
    {
        var machine = try PhaseRow.open(.revoking).machine(.revokeTokens)
        machine.environment = Sample.environment(onUnrevocable: .park)
        try machine.answer(revoke: .failure(.sealBroken))
        #expect(throws: OperationRefusal.tooLate) { try machine.send(.cancel) }
    }

    @Test func `an answer after a cancel is kept and does nothing`() throws {
        var machine = try PhaseRow.open(.revoking).machine(.deleteAccount)
        try machine.send(.cancel)
        #expect(try machine.answer(revoke: .success) == [])
        #expect(machine.request.phase == .cancelled)
        #expect(!machine.request.isBusy)
        #expect(machine.request.revocations[0].credentials[0].step == .revoked)
    }

    @Test func `an absorbed revocation ends without a verdict of its own`() throws {
        for row in PhaseRow.allCases where row.isWithoutPurge && !row.hasEnded {
            var machine = try row.machine(.revokeTokens)
            #expect(try machine.send(.absorbed) == [.announce(.cancelled)], "\(row.name)")
            #expect(machine.request.endDetail == "merged")
            #expect(machine.request.phase == .cancelled)
        }
    }

    @Test("a hold stops every stage and a release goes on with it", arguments: Stage.allCases)
    func hold(in stage: Stage) throws {
        var machine = try PhaseRow.parked(stage, .onHold).machine(.deleteAccount)
        #expect(machine.request.isHeld)
        machine.pass(.seconds(1))
        #expect(try machine.send(.due) == [])
        #expect(try machine.send(.release).contains(.announce(.resumed)) == (stage != .verifying))
        #expect(machine.request.phase.parkReason == nil)
        #expect(throws: OperationRefusal.self) { try machine.send(.release) }
    }

    @Test func `a hold with a call under way begins no other, and the answer counts`() throws {
        var machine = try PhaseRow.open(.checking).machine(.deleteAccount)
        try machine.send(.hold)
        #expect(machine.request.isBusy)
        #expect(machine.request.dueAt == machine.now)
        #expect(try machine.answer(check: .live) == [])
        #expect(machine.request.dueAt == nil)
        #expect(try machine.send(.release) == [.revoke, .announce(.resumed)])
    }

    @Test func `a shared identity waits for an operator`() throws {
        var machine = try PhaseRow.parked(.revoking, .sharedIdentity).machine(.deleteAccount)
        machine.pass(Sample.day * 400)
        #expect(try machine.send(.due) == [])
        try machine.send(.abandon)
        #expect(machine.verdict == .abandoned)
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `an identity that became shared is not revoked`() throws {
        var machine = try PhaseRow.open(.waiting).machine(.deleteAccount)
        try machine.send(
            .identityChanged([Sample.snapshot([Sample.credential()], isShared: true)])
        )
        #expect(machine.request.phase.parkReason == .sharedIdentity)
    }

    @Test func `the guard stops a purge before it begins, not one that began`() throws {
        var machine = try PhaseRow.parked(.purging, .massDeletionGuard).machine(.deleteAccount)
        #expect(machine.request.purgeStartedAt == nil)
        #expect(machine.request.dueAt == nil)
        machine.environment.isGuardClosed = false
        try machine.send(.due)
        #expect(machine.request.purgeStartedAt == machine.now)
        machine.environment.isGuardClosed = true
        #expect(try machine.answer(purge: .done(PurgeCounts())) == [.verify(Sample.database)])
    }

    @Test func `abandon ends what is open and keeps what is proven`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let stuck = Sample.snapshot(
            [Sample.credential(id: Sample.secondToken)],
            identity: other,
            provider: ProviderName("gone")
        )
        var machine = Machine(identities: [Sample.snapshot(), stuck])
        try machine.revokeEverything()
        #expect(machine.request.phase.parkReason == .unknownProvider)
        try machine.send(.abandon)
        #expect(machine.request.revocations.map(\.verdict) == [.accepted, .abandoned])
    }

    @Test func `abandon cancels what a store spells otherwise, and nothing else`() throws {
        for kind in [Obstacle.Kind.spelling, .foreignKey] {
            var machine = Machine()
            try machine.revokeEverything()
            try machine.answer(purge: .failure(.blocked(Obstacle(kind, at: "posts"))))
            let request = machine.request
            guard kind == .spelling else {
                #expect(throws: OperationRefusal.nothingToAbandon) {
                    try request.check(.abandon(nil, configured: []))
                }
                continue
            }
            try request.check(.abandon(nil, configured: []))
            #expect(try machine.send(.abandon) == [.announce(.abandoned)])
            #expect(machine.request.phase == .cancelled)
            #expect(machine.request.endDetail == "abandoned")
        }
    }

    private static let spelled = PurgeAnswer.failure(.blocked(Obstacle(.spelling, at: "posts")))

    @Test func `what a store spells otherwise is not cancelled during a try, but after it`() throws
    {
        var machine = Machine()
        try machine.revokeEverything()
        for _ in 1...3 {
            try machine.answer(purge: Self.spelled)
            #expect(try machine.sendDue() == [.purge(Sample.database)])
            let request = machine.request
            #expect(throws: OperationRefusal.tooLate) { try machine.send(.abandon) }
            #expect(throws: OperationRefusal.tooLate) {
                try request.check(.abandon(nil, configured: []))
            }
        }
        try machine.answer(purge: Self.spelled)
        try machine.send(.abandon)
        #expect(machine.request.phase == .cancelled)
    }

    private static let erased = PurgeCounts(
        entries: [.init(name: "posts", action: .rule(.delete), rowCount: 1)]
    )
    private static let erasures: [(PurgeAnswer, Bool)] = [
        (.done(PurgeCounts()), false), (.stopped, false), (.failure(.lost), true),
        (.done(erased), true), (.halted(erased), true),
    ]

    @Test("a store that spells otherwise is given up after an erasure", arguments: erasures)
    func afterErasure(_ answer: PurgeAnswer, _ hasErased: Bool) throws {
        var machine = Machine(stores: [Sample.files, Sample.database])
        try machine.revokeEverything()
        try machine.answer(purge: answer, Sample.files)
        if machine.request.purges[0].step == .waiting { try machine.sendDue() }
        let next = machine.request.purges[0].step == .waiting ? Sample.files : Sample.database
        try machine.answer(purge: Self.spelled, next)
        try machine.request.check(.abandon(nil, configured: []))
        try machine.send(.abandon)
        guard hasErased else {
            #expect(machine.request.phase == .cancelled)
            return
        }
        let other = next == Sample.files ? Sample.database : Sample.files
        if next == Sample.files { try machine.answer(purge: .done(PurgeCounts()), other) }
        try machine.answer(verify: .clean, other)
        #expect(machine.request.phase == .completed)
        let works = machine.request.purges
        #expect(works.filter(\.counts.isGivenUp).map(\.store) == [next])
        #expect(works.filter(\.counts.isNotLookedFor).map(\.store) == [next])
    }

    @Test func `a store that was given up is purged again after a restoration`() throws {
        var machine = Machine(stores: [Sample.files, Sample.database])
        try machine.revokeEverything()
        try machine.answer(purge: .done(Self.erased), Sample.files)
        try machine.answer(purge: Self.spelled)
        try machine.send(.abandon)
        try machine.send(.restored([Sample.database], at: nil))
        try machine.answer(verify: .clean, Sample.files)
        try machine.answer(purge: .done(Self.erased))
        #expect(!machine.request.purges[1].counts.isGivenUp)
    }

    @Test func `where keys come from a source, what is spelled otherwise is given up`() throws {
        var machine = Machine(stores: [Sample.files, Sample.database])
        machine.environment.keySources = [Sample.database: Sample.files]
        try machine.revokeEverything()
        try machine.answer(purge: .done(PurgeCounts()), Sample.files)
        try machine.answer(purge: Self.spelled)
        try machine.send(.abandon)
        let counts = machine.request.purges[1].counts
        // Its other keys may have been purged.
        #expect(counts.isGivenUp && counts.isAtLeast)
        #expect(machine.request.phase == .open(.verifying))
    }

    @Test func `a retry comes at once and forgets the failures`() throws {
        var machine = try PhaseRow.open(.waiting).machine(.deleteAccount)
        #expect(machine.request.revocations[0].failures == 1)
        #expect(try machine.send(.retry) == [.check])
        #expect(machine.request.revocations[0].failures == 0)
    }

    @Test func `a quarantine ends by a retry alone`() throws {
        var machine = try PhaseRow.parked(.revoking, .quarantined).machine(.deleteAccount)
        #expect(machine.request.crashCount >= Limits.crashesMax)
        for event in [RequestEvent.hold, .release, .due] { try machine.send(event) }
        #expect(machine.request.phase.parkReason == .quarantined)
        try machine.send(.retry)
        #expect(machine.request.crashCount == 0)
        #expect(machine.request.phase == .open(.revoking))
    }

    @Test func `the cutoff is never later than the acceptance`() {
        let request = Request(
            id: Machine().request.id,
            kind: .deleteAccount,
            createdAt: Sample.start + Sample.day,
            acceptedAt: Sample.start,
            notBefore: Sample.start,
            deadlineAt: Sample.start,
            identities: [],
            stores: []
        )
        #expect(request.cutoff == Sample.start)
    }

    @Test func `a request belongs to the lane of its next call`() throws {
        #expect(Machine().request.lane == Sample.apple)
        #expect(try PhaseRow.open(.waiting).machine(.deleteAccount).request.lane == Sample.apple)
        #expect(try PhaseRow.open(.purging).machine(.deleteAccount).request.lane == nil)
        #expect(try PhaseRow.completed.machine(.deleteAccount).request.lane == nil)
    }
}

extension PhaseRow {
    fileprivate var hasEnded: Bool { self == .completed || self == .cancelled }
}
