import Lifecycle
import Testing

/// What the provider's own notification that the link is cut is worth as evidence.
struct LinkCutTests {
    private static let cut = RequestEvent.identityChanged([Sample.snapshot(isCut: true)])

    @Test func `a link that was cut before is already gone and needs no call`() throws {
        var machine = Machine(identities: [Sample.snapshot(isCut: true)])
        let effects = try machine.send(.due)
        #expect(machine.verdict == .alreadyGone)
        #expect(machine.request.phase == .open(.purging))
        #expect(!effects.contains(.check) && !effects.contains(.revoke))
    }

    @Test(arguments: [OnUnrevocable.park, .proceed])
    func `it ends a revocation that is parked without a credential`(
        _ policy: OnUnrevocable
    ) throws {
        let spent = Sample.credential(.unusable, kind: .authorizationCode)
        var machine = Machine(
            identities: [Sample.snapshot([spent])],
            in: Sample.environment(onUnrevocable: policy)
        )
        try machine.send(.due)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        try machine.send(.identityChanged([Sample.snapshot([spent], isCut: true)]))
        #expect(machine.verdict == .alreadyGone)
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `after a revoke that answered success it is the proof`() throws {
        // Proof may be asked for a day later only, and another token keeps the identity open.
        let recent = Sample.credential(lastLiveAt: Sample.start, lastRefreshAt: Sample.start)
        let traits = Sample.traits(revokesWholeGrant: false)
        let second = Sample.credential(id: Sample.secondToken, lastRefreshAt: Sample.start)
        var machine = Machine(
            identities: [Sample.snapshot([recent, second])],
            in: Sample.environment(traits)
        )
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == nil)
        try machine.answer(revoke: .failure(.unreachable), Sample.secondToken)
        let known = Sample.snapshot([recent, second], isCut: true)
        try machine.send(.identityChanged([known]))
        #expect(machine.verdict == .proven)
    }

    @Test func `accepted rises to proven while another identity is still open`() throws {
        let other = IdentityID(TimeOrderedID(high: 2, low: 2))
        let waiting = Sample.snapshot(
            [Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)],
            identity: other
        )
        var machine = Machine(identities: [Sample.snapshot(), waiting])
        try machine.revokeEverything()
        #expect(machine.verdict == .accepted)
        let effects = try machine.send(Self.cut)
        #expect(machine.verdict == .proven)
        let calls = machine.request.revocations[0].attempts
        #expect(effects == [.announce(.verdict(Sample.apple, .proven, calls: calls))])
        #expect(try machine.send(Self.cut).isEmpty)
    }

    @Test func `it waits for the answer of a call under way`() throws {
        var machine = Machine()
        #expect(try machine.send(.due) == [.check])
        try machine.send(Self.cut)
        #expect(machine.verdict == nil)
        try machine.answer(check: .failure(.lost))
        #expect(machine.verdict == .alreadyGone)
    }

    @Test func `a token that answers live afterwards outweighs it`() throws {
        var machine = Machine()
        try machine.send(.due)
        try machine.send(Self.cut)
        #expect(try machine.answer(check: .live) == [.revoke])
        #expect(machine.verdict == nil)
    }

    @Test func `a shared identity stays parked`() throws {
        var machine = Machine(identities: [Sample.snapshot(isShared: true, isCut: true)])
        try machine.send(.due)
        #expect(machine.request.phase.parkReason == .sharedIdentity)
    }

    @Test func `a credential that comes after the cut is revoked all the same`() throws {
        let other = IdentityID(TimeOrderedID(high: 2, low: 2))
        let waiting = Sample.snapshot(
            [Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)],
            identity: other
        )
        var machine = Machine(identities: [Sample.snapshot(isCut: true), waiting])
        try machine.send(.due)
        #expect(machine.verdict == .alreadyGone)
        let update = [Sample.credential(), Sample.credential(id: Sample.secondToken)]
        let effects = try machine.learn(update)
        #expect(machine.verdict == nil)
        #expect(!effects.isEmpty)
    }
}
