import Lifecycle
import Testing

/// What a success says of a token that nobody saw, and of tokens that nobody holds.
struct UnconfirmedTests {
    private static let unseen = Sample.credential(kind: .accessToken)
    private static let seen = Sample.credential(kind: .accessToken, lastLiveAt: Sample.start)
    private static let lostCode = Sample.credential(
        .lost,
        id: Sample.secondToken,
        kind: .authorizationCode
    )

    @Test func `a success for a token that was never seen live revokes nothing`() throws {
        var machine = machine([Self.unseen], onUnrevocable: .proceed)
        try machine.send(.due)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        #expect(machine.verdict == .unconfirmed)
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `under park it waits for a sign-in for as long as it takes`() throws {
        var machine = machine([Self.unseen], onUnrevocable: .park)
        try machine.send(.due)
        try machine.answer(revoke: .success)
        machine.pass(Sample.day * 400)
        try machine.send(.due)
        #expect(machine.verdict == nil)
        let fresh = Sample.credential(id: Sample.secondToken, lastLiveAt: machine.now)
        try machine.learn([Self.unseen, fresh])
        try machine.answer(revoke: .success, Sample.secondToken)
        #expect(machine.verdict == .accepted)
    }

    @Test func `where success is for live tokens alone it is accepted`() throws {
        let traits = ProviderTraits(
            canCheckRefreshToken: false,
            refreshInterval: .zero,
            livenessLifetime: .zero,
            revokesWholeGrant: true,
            refusesUnknownTokens: true,
            userActionURL: "",
            userActionText: ""
        )
        var machine = machine([Self.unseen], traits)
        try machine.send(.due)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    /// Whether one revocation ends the whole grant, and the verdict beside a lost code.
    static let lost: [(Bool, Verdict)] = [(true, .accepted), (false, .unconfirmed)]

    @Test("a lost code may have brought a token that nobody holds", arguments: lost)
    func lostCode(_ wholeGrant: Bool, _ expected: Verdict) throws {
        let traits = Sample.traits(canCheck: false, revokesWholeGrant: wholeGrant)
        var machine = machine([Self.lostCode, Self.seen], traits, onUnrevocable: .park)
        try machine.send(.due)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == expected)
        // No sign-in could bring that token back, so nothing waits for one.
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `a token is asked about again after a code was lost, and then it is of one grant`()
        throws
    {
        var lost = Self.lostCode
        lost.rotation = .inDoubt
        let token = Sample.credential(lastLiveAt: Sample.start - .seconds(60))
        var machine = machine([lost, token], Sample.traits(refreshInterval: .zero))
        // It was live a minute ago, but perhaps under a grant that is gone since.
        #expect(try machine.send(.due) == [.check])
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
    }

    @Test func `a dead token beside a younger lost code proves nothing`() throws {
        var lost = Self.lostCode
        lost.rotation = .inDoubt
        let token = Sample.credential(lastLiveAt: Sample.start - .seconds(60))
        var machine = machine([lost, token], Sample.traits(refreshInterval: .zero))
        #expect(try machine.send(.due) == [.check])
        try machine.answer(check: .dead)
        #expect(machine.verdict == .tokenDead)
    }

    @Test func `a refused credential rules out proven, also when it comes after the verdict`()
        throws
    {
        let other = IdentityID(TimeOrderedID(high: 2, low: 2))
        let waiting = Sample.snapshot(
            [Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)],
            identity: other
        )
        let traits = Sample.traits(refreshInterval: .zero, revokesWholeGrant: false)
        var machine = Machine(
            identities: [Sample.snapshot([Sample.credential()]), waiting],
            in: Sample.environment(traits, onUnrevocable: .park)
        )
        try machine.send(.due)
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
        var snapshot = Sample.snapshot([Sample.credential()])
        snapshot.refusedCount = 8
        try machine.send(.identityChanged([snapshot]))
        #expect(machine.verdict == .unconfirmed)
        #expect(machine.request.revocations[0].refusedCount == 8)
    }

    @Test func `a token that outlives its revocation is tried ever more rarely`() throws {
        let traits = Sample.traits(refreshInterval: .zero)
        var machine = machine([Sample.credential(lastLiveAt: Sample.start)], traits)
        try machine.send(.due)
        var pauses: [Duration] = []
        for _ in 1...12 {
            try machine.answer(revoke: .success)
            try machine.answer(confirm: .live)
            let dueAt = try #require(machine.request.dueAt)
            pauses.append(dueAt.since(machine.now))
            #expect(try machine.sendDue() == [.revoke])
        }
        #expect(try #require(pauses.last) > .seconds(300))
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
        #expect(machine.request.revocations[0].proof == .refusedAfter)
        #expect(machine.request.revocations[0].failures == 0)
    }

    /// How a live token ended, and what the evidence says.
    static let proofs: [(RevokeAnswer, CheckAnswer?, Proof)] = [
        (.success, .dead, .refusedAfter),
        (.alreadyInvalid, nil, .refusedAgain),
        (.grantGone, nil, .grantGone),
    ]

    @Test("the evidence says who showed it", arguments: proofs)
    func proof(_ revoke: RevokeAnswer, _ confirm: CheckAnswer?, _ expected: Proof) throws {
        let token = Sample.credential(lastLiveAt: Sample.start)
        var machine = machine([token], Sample.traits(refreshInterval: .zero))
        try machine.send(.due)
        try machine.answer(revoke: revoke)
        if let confirm { try machine.answer(confirm: confirm) }
        #expect(machine.verdict == .proven)
        #expect(machine.request.revocations[0].proof == expected)
    }

    @Test func `a notification is evidence of its own`() throws {
        var machine = Machine(identities: [Sample.snapshot(isCut: true)])
        try machine.send(.due)
        #expect(machine.verdict == .alreadyGone)
        #expect(machine.request.revocations[0].proof == .notification)
    }

    private func machine(
        _ credentials: [CredentialWork],
        _ traits: ProviderTraits = Sample.traits(canCheck: false),
        onUnrevocable: OnUnrevocable = .proceed
    ) -> Machine {
        Machine(
            identities: [Sample.snapshot(credentials)],
            in: Sample.environment(traits, onUnrevocable: onUnrevocable)
        )
    }
}
