import Lifecycle
import Testing

/// A sign-in after a revocation opens a grant of its own, of which that revocation says nothing.
struct EarlierGrantTests {
    private static let seen = Sample.credential(lastLiveAt: Sample.start)
    private static let pendingCode = Sample.credential(
        .codePending,
        id: Sample.freshToken,
        kind: .authorizationCode
    )

    private static func fresh(_ lastLiveAt: WallTime? = Sample.start) -> CredentialWork {
        Sample.credential(
            id: Sample.secondToken,
            kind: .accessToken,
            lastLiveAt: lastLiveAt
        )
    }

    /// The first token is proven revoked, and another identity keeps the request open.
    private func proven(revoke: RevokeAnswer = .success) throws -> Machine {
        let waiting = Sample.snapshot(
            [Sample.credential(.unusable, id: CredentialID(rowID: 7), kind: .authorizationCode)],
            identity: IdentityID(TimeOrderedID(high: 2, low: 2))
        )
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen]), waiting],
            in: Sample.environment(onUnrevocable: .park)
        )
        try machine.send(.due)
        try machine.answer(revoke: revoke)
        if revoke == .success { try machine.answer(confirm: .dead) }
        #expect(machine.verdict == .proven)
        return machine
    }

    /// Whether the later token was seen live, how its revocation ended, and the verdict.
    static let later: [(Bool, RevokeAnswer, Verdict?)] = [
        (true, .success, .accepted),
        (false, .success, nil),
        (true, .failure(.sealBroken), nil),
        (true, .unfit, nil),
        (true, .alreadyInvalid, .tokenDead),
        (true, .grantGone, .proven),
    ]

    @Test("what was proven before does not speak for a token that came later", arguments: later)
    func laterToken(_ wasSeen: Bool, _ answer: RevokeAnswer, _ expected: Verdict?) throws {
        var machine = try proven()
        let fresh = Self.fresh(wasSeen ? Sample.start : nil)
        #expect(
            try machine.learn([Self.seen, fresh])
                .contains(.revoke(Sample.identity, Sample.secondToken))
        )
        try machine.answer(revoke: answer, Sample.secondToken)
        #expect(machine.verdict == expected)
        #expect(machine.request.revocations[0].proof == (answer == .grantGone ? .grantGone : nil))
    }

    @Test func `the later token goes first, since the earlier one would end its grant unseen`()
        throws
    {
        var machine = Machine(identities: [Sample.snapshot([Self.seen])])
        try machine.send(.due)
        try machine.answer(revoke: .failure(.lost))
        try machine.learn([Self.seen, Self.fresh()])
        #expect(try machine.sendDue() == [.revoke(Sample.identity, Sample.secondToken)])
        #expect(try machine.answer(revoke: .success, Sample.secondToken) == [.revoke])
        try machine.answer(revoke: .alreadyInvalid)
        #expect(machine.verdict == .accepted)
    }

    @Test func `one that is confirmed after the sign-in was made before it`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(onUnrevocable: .park)
        )
        try machine.send(.due)
        #expect(try machine.answer(revoke: .success) == [.confirm])
        try machine.learn([Self.seen, Self.fresh()])
        try machine.answer(confirm: .dead)
        try machine.answer(revoke: .unfit, Sample.secondToken)
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `a code that brought no token changes nothing`() throws {
        var machine = try proven()
        try machine.learn([Self.seen, Self.pendingCode])
        #expect(machine.verdict == nil)
        var refused = Self.pendingCode
        refused.step = .unusable
        try machine.learn([Self.seen, refused])
        #expect(machine.verdict == .proven)
        #expect(machine.request.revocations[0].proof == .refusedAfter)
    }

    /// What the provider says of the grant covers the codes of before, and none of later.
    @Test(
        "a code that is lost after the provider's word about the grant",
        arguments: [true, false]
    )
    func laterCode(_ wasPending: Bool) throws {
        var machine = try proven(revoke: .grantGone)
        var lost = Self.pendingCode
        if wasPending { try machine.learn([Self.seen, lost]) }
        lost.step = .lost
        try machine.learn([Self.seen, lost])
        #expect(machine.verdict == .unconfirmed)
    }

    /// Whether the code was lost after the token was last seen live; the provider answers later.
    @Test("an older lost code is covered by the provider's word", arguments: [true, false])
    func olderCode(_ isInDoubt: Bool) throws {
        for wholeGrant in [true, false] {
            var lost = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
            lost.rotation = isInDoubt ? .inDoubt : .settled
            var machine = Machine(
                identities: [Sample.snapshot([lost, Sample.credential(kind: .accessToken)])],
                in: Sample.environment(
                    Sample.traits(canCheck: false, revokesWholeGrant: wholeGrant)
                )
            )
            try machine.send(.due)
            try machine.answer(revoke: .grantGone)
            #expect(machine.verdict == .alreadyGone)
        }
    }

    @Test func `a younger lost code rules out already gone`() throws {
        for wholeGrant in [true, false] {
            var lost = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
            lost.rotation = .inDoubt
            var machine = Machine(
                identities: [Sample.snapshot([lost, Sample.credential(.gone)])],
                in: Sample.environment(Sample.traits(revokesWholeGrant: wholeGrant))
            )
            try machine.send(.due)
            #expect(machine.verdict == .unconfirmed)
        }
    }

    @Test func `a refused credential may be of another account, which is not gone`() throws {
        var snapshot = Sample.snapshot([Sample.credential(kind: .accessToken)])
        snapshot.refusedCount = 1
        var machine = Machine(
            identities: [snapshot],
            in: Sample.environment(Sample.traits(canCheck: false))
        )
        try machine.send(.due)
        try machine.answer(revoke: .grantGone)
        #expect(machine.verdict == .unconfirmed)
    }
}
