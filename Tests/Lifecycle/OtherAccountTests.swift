import Testing

@testable import Lifecycle

/// An account beside the user's first at a provider: revoked like it, and no proof of anything.
struct OtherAccountTests {
    private static let account = IdentityID(TimeOrderedID(high: 2, low: 2))
    private static let directory = ProviderName("firebase")

    private static func other(_ credentials: [CredentialWork]) -> IdentitySnapshot {
        var snapshot = Sample.snapshot(credentials, identity: account)
        snapshot.isOtherAccount = true
        return snapshot
    }

    /// Waits for the link of a directory, of which the vault has nothing.
    private static func linked() throws -> Machine {
        var environment = Sample.environment()
        environment.directory = directory
        var machine = Machine(identities: [], in: environment)
        machine.request.lookup = LookupWork(directory: directory)
        try machine.send(.due)
        let link = LinkedIdentity(
            identity: Sample.identity,
            provider: Sample.apple,
            isLocal: false,
            subjectHash: nil
        )
        try machine.send(.lookedUp(.found([link])))
        return machine
    }

    @Test func `a link does not end with what another account ends with`() throws {
        var machine = try Self.linked()
        try machine.send(.identityChanged([Self.other([Sample.credential()])]))
        try machine.send(.checked(Self.account, Sample.token, .live))
        try machine.send(.revoked(Self.account, Sample.token, .success))
        #expect(machine.request.revocations.map(\.verdict) == [nil, .accepted])
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `another account does not open a link again that has its verdict`() throws {
        var machine = try Self.linked()
        // Something else keeps the request in its stage.
        let web = ProviderName("web")
        machine.environment.providers[web] = machine.environment.providers[Sample.apple]
        let waiting = Sample.snapshot(
            [Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)],
            identity: IdentityID(TimeOrderedID(high: 3, low: 3)),
            provider: web
        )
        try machine.send(.identityChanged([waiting]))
        machine.pass(Sample.day * 7 - .seconds(1))
        machine.request.revocations[1].waitingSince = machine.now
        machine.pass(.seconds(1))
        try machine.send(.due)
        #expect(machine.request.revocations.map(\.verdict) == [.unrevoked, nil])
        try machine.send(.identityChanged([Self.other([Sample.credential()])]))
        #expect(machine.request.revocations.map(\.verdict) == [.unrevoked, nil, nil])
    }

    @Test func `no token is revoked while a code of the client may bring one of its account`()
        throws
    {
        let code = Sample.credential(.codePending, id: Sample.freshToken, kind: .authorizationCode)
        let live = Sample.credential(lastLiveAt: Sample.start)
        var machine = Machine(identities: [Sample.snapshot([live]), Self.other([code])])
        #expect(try machine.send(.due) == [])
        #expect(machine.request.revocations[0].isBusy == false)
        let spent = Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)
        #expect(try machine.send(.identityChanged([Self.other([spent])])).contains(.revoke))
    }

    @Test func `a token whose account became known is revoked there alone`() throws {
        let live = Sample.credential(lastLiveAt: Sample.start)
        let code = Sample.credential(.codePending, id: Sample.freshToken, kind: .authorizationCode)
        var machine = Machine(identities: [Sample.snapshot([live, code])])
        try machine.send(.due)
        #expect(!machine.request.isBusy)
        let effects = try machine.send(.identityChanged([Self.other([live])]))
        #expect(machine.request.revocations[0].credentials.map(\.id) == [Sample.freshToken])
        #expect(machine.request.revocations[1].credentials.map(\.id) == [Sample.token])
        #expect(!effects.contains(.revoke))
    }

    @Test(
        "a token takes what was done to it along, and decides nothing where it was",
        arguments: [true, false]
    )
    func moved(_ revokesWholeGrant: Bool) throws {
        let traits = Sample.traits(revokesWholeGrant: revokesWholeGrant)
        var machine = Machine(.revokeTokens, in: Sample.environment(traits, onUnrevocable: .park))
        try machine.send(.due)
        try machine.answer(check: .live)
        try machine.send(.identityChanged([Self.other([Sample.credential()])]))
        try machine.send(.revoked(Sample.identity, Sample.token, .success))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil])
        #expect(machine.request.revocations.map(\.credentials.count) == [0, 1])
        #expect(machine.request.revocations[1].credentials[0].step == .revoking)
        #expect(throws: OperationRefusal.tooLate) { try machine.send(.cancel) }
        try machine.send(.revoked(Self.account, Sample.token, .success))
        #expect(machine.request.revocations.map(\.verdict) == [nil, .accepted])
    }

    @Test func `a token that was not asked about yet leaves nothing behind`() throws {
        let second = Sample.credential(id: Sample.secondToken)
        var machine = Machine(
            identities: [Sample.snapshot([Sample.credential(), second])],
            in: Sample.environment(Sample.traits(revokesWholeGrant: false))
        )
        try machine.send(.due)
        #expect(machine.request.revocations[0].isBusy)
        try machine.send(.identityChanged([Self.other([second])]))
        #expect(machine.request.revocations[0].credentials.map(\.id) == [Sample.token])
        #expect(machine.request.revocations[0].credentials.map(\.isOfEarlierGrant) == [false])
    }

    @Test func `a verdict that rests on a token of another account falls`() throws {
        let seen = Sample.credential(lastLiveAt: Sample.start)
        let waiting = Sample.snapshot(
            [Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)],
            identity: IdentityID(TimeOrderedID(high: 3, low: 3))
        )
        var machine = Machine(
            identities: [Sample.snapshot([seen]), waiting],
            in: Sample.environment(onUnrevocable: .park)
        )
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
        try machine.send(.identityChanged([Self.other([seen])]))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil, .proven])
        #expect(machine.request.revocations[0].proof == nil)
    }

    private static let named: [(Bool, Verdict?)] = [(true, .proven), (false, nil)]

    /// It may be of an account whose grant did not end.
    @Test("a token without a subject does not end with the grant of one account", arguments: named)
    func stray(_ isNamed: Bool, _ expected: Verdict?) throws {
        var stray = Sample.credential(.unusable, id: Sample.secondToken)
        stray.isUnnamed = !isNamed
        let seen = Sample.credential(lastLiveAt: Sample.start)
        let other = Self.other([Sample.credential(id: Sample.freshToken)])
        var machine = Machine(
            identities: [Sample.snapshot([seen, stray]), other],
            in: Sample.environment(onUnrevocable: .park)
        )
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == expected)
    }

    @Test func `a token proves nothing of one of several accounts until its subject is named`()
        throws
    {
        var token = Sample.credential(lastLiveAt: Sample.start)
        token.isUnnamed = true
        let other = Self.other([Sample.credential(id: Sample.freshToken)])
        var machine = Machine(
            identities: [Sample.snapshot([token]), other],
            in: Sample.environment(
                Sample.traits(revokesWholeGrant: false),
                onUnrevocable: .park
            )
        )
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == nil)
        token.isUnnamed = false
        try machine.learn([token])
        #expect(machine.verdict == .proven)
    }

    @Test func `the end of another account starts no deletion`() {
        for (isOther, expected) in [
            (false, NotificationDecision.deletion), (true, .settled(.reported)),
        ] {
            let user = NotificationDecision.User(
                openDeletion: nil,
                openRequest: nil,
                raised: 0,
                isOtherAccount: isOther
            )
            let decision = NotificationDecision(
                .accountGone,
                of: .user(user),
                policy: NotificationPolicy(),
                canSubmit: true
            )
            #expect(decision == expected)
        }
    }
}
