import Testing

@testable import Lifecycle

/// An account beside the user's first at a provider: revoked like it, and no proof of anything.
struct OtherAccountTests {
    private static let account = IdentityID(TimeOrderedID(high: 2, low: 2))
    private static let directory = ProviderName("firebase")

    private static let proven = Sample.credential(.proven, wasLive: true)
    /// By whether the subject of a token is named.
    private static let earned: [(Bool, Verdict)] = [(true, .proven), (false, .unconfirmed)]
    private static let named: [(Bool, Verdict?)] = [(true, .proven), (false, nil)]

    private static func other(_ credentials: [CredentialWork]) -> IdentitySnapshot {
        var snapshot = Sample.snapshot(credentials, identity: account)
        snapshot.isOtherAccount = true
        return snapshot
    }

    private static let web = ProviderName("web")
    /// Keeps a request in its stage, at another provider.
    private static let waiting = Sample.snapshot(
        [Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)],
        identity: IdentityID(TimeOrderedID(high: 3, low: 3)),
        provider: web
    )

    private static func environment(_ traits: ProviderTraits = Sample.traits()) -> Environment {
        var environment = Sample.environment(traits, onUnrevocable: .park)
        environment.providers[web] = environment.providers[Sample.apple]
        return environment
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

    /// Whether the directory names an account beside the vault's, or an operator forgot one.
    @Test(
        "a token without a subject proves nothing beside an account that the vault has not",
        arguments: [true, false],
        [true, false]
    )
    func unheld(_ isForgotten: Bool, _ isNamed: Bool) throws {
        var token = Sample.credential(lastLiveAt: Sample.start)
        token.isUnnamed = !isNamed
        var snapshot = Sample.snapshot([token])
        snapshot.hadOthers = isForgotten
        snapshot.subjectHash = [1]
        var environment = Self.environment()
        environment.directory = Self.directory
        var machine = Machine(identities: [snapshot, Self.waiting], in: environment)
        machine.request.lookup = LookupWork(directory: Self.directory)
        try machine.send(.due)
        try machine.send(.lookedUp(.found(isForgotten ? [] : [Self.stranger])))
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == (isNamed ? .proven : nil))
    }

    private static var stranger: LinkedIdentity {
        LinkedIdentity(
            identity: account,
            provider: Sample.apple,
            isLocal: false,
            subjectHash: [2]
        )
    }

    @Test func `a verdict falls that rests on what may be the directory's other account`() throws {
        var token = Sample.credential(lastLiveAt: Sample.start)
        token.isUnnamed = true
        var known = Sample.snapshot([token])
        known.subjectHash = [1]
        var machine = Machine(identities: [known, Self.waiting], in: Self.environment())
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
        machine.environment.directory = Self.directory
        #expect(try machine.send(.due).contains(.lookUp(Self.directory)))
        try machine.send(.lookedUp(.found([Self.stranger])))
        #expect(machine.verdict == nil)
    }

    @Test func `another account does not open a link again that has its verdict`() throws {
        var machine = try Self.linked()
        // Something else keeps the request in its stage.
        machine.environment.providers[Self.web] = machine.environment.providers[Sample.apple]
        try machine.send(.identityChanged([Self.waiting]))
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
        "a token takes its revoke intent along, and decides nothing where it was",
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
        let effects = try machine.send(.identityChanged([Self.other([seen])]))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil, nil])
        #expect(machine.request.revocations[0].proof == nil)
        // What was revoked in the first account's name is so in the other's only after a call.
        #expect(effects.contains(.revoke(Self.account, Sample.token)))
        try machine.send(.revoked(Self.account, Sample.token, .alreadyInvalid))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil, .proven])
    }

    @Test func `a token that may live on opens the verdict of the account that it moves to`()
        throws
    {
        let given = Sample.credential(.unusable, id: Sample.secondToken)
        let seen = Sample.credential(lastLiveAt: Sample.start)
        var machine = Machine(
            identities: [Sample.snapshot([given]), Self.other([seen])],
            in: Self.environment(Sample.traits(revokesWholeGrant: false))
        )
        try machine.send(.due)
        try machine.send(.revoked(Self.account, Sample.token, .success))
        try machine.send(.confirmed(Self.account, Sample.token, .dead))
        #expect(machine.request.revocations.map(\.verdict) == [nil, .proven])
        let moved = Sample.credential(id: Sample.secondToken)
        let effects = try machine.send(.identityChanged([Self.other([seen, moved])]))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil])
        #expect(effects.contains(.check(Self.account, Sample.secondToken)))
    }

    @Test("an account that becomes known later counts as one of the start", arguments: named)
    func later(_ isNamed: Bool, _ expected: Verdict?) throws {
        var token = Sample.credential(lastLiveAt: Sample.start)
        token.isUnnamed = !isNamed
        var machine = Machine(
            identities: [Sample.snapshot([token]), Self.waiting],
            in: Self.environment()
        )
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
        let other = Self.other([Sample.credential(id: Sample.secondToken)])
        try machine.send(.identityChanged([other]))
        #expect(machine.request.revocations.map(\.verdict) == [expected, nil, nil])
        #expect(machine.request.revocations[0].proof == (isNamed ? Proof.refusedAfter : nil))
    }

    @Test func `a proof stays that rests on a token with a subject`() throws {
        let seen = Sample.credential(lastLiveAt: Sample.start)
        var dead = Sample.credential(.dead, id: Sample.secondToken)
        dead.isUnnamed = true
        var machine = Machine(
            identities: [Sample.snapshot([seen, dead]), Self.waiting],
            in: Self.environment()
        )
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        let moved = Sample.credential(id: Sample.secondToken)
        try machine.send(.identityChanged([Self.other([moved])]))
        #expect(machine.request.revocations[0].credentials.map(\.id) == [Sample.token])
        #expect(machine.verdict == .proven)
        #expect(machine.request.revocations[0].proof == .refusedAfter)
    }

    @Test(
        "what is heard of a token without a subject covers no lost code of one of several accounts",
        arguments: earned
    )
    func lost(_ isNamed: Bool, _ expected: Verdict) throws {
        var code = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
        code.rotation = .inDoubt
        var ambiguous = Sample.credential(id: Sample.secondToken)
        ambiguous.isUnnamed = !isNamed
        let other = Self.other([Sample.credential(id: CredentialID(rowID: 5))])
        var machine = Machine(
            identities: [Sample.snapshot([Self.proven, ambiguous, code]), other],
            in: Self.environment()
        )
        try machine.send(.due)
        try machine.answer(check: .live, Sample.secondToken)
        try machine.answer(revoke: .grantGone, Sample.secondToken)
        #expect(machine.verdict == expected)
    }

    @Test(
        "a lost code without a subject may be of an account whose grant did not end",
        arguments: earned
    )
    func lostCode(_ isNamed: Bool, _ expected: Verdict) throws {
        var code = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
        code.isUnnamed = !isNamed
        let other = Self.other([Sample.credential(id: Sample.secondToken)])
        var machine = Machine(
            identities: [Sample.snapshot([Self.proven, code]), other],
            in: Self.environment()
        )
        try machine.send(.due)
        #expect(machine.verdict == expected)
    }

    @Test func `a token that covers no lost code is asked about once`() throws {
        var code = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
        code.rotation = .inDoubt
        var ambiguous = Sample.credential(id: Sample.secondToken)
        ambiguous.isUnnamed = true
        let other = Self.other([Sample.credential(.codePending, id: CredentialID(rowID: 5))])
        var machine = Machine(
            identities: [Sample.snapshot([Self.proven, ambiguous, code]), other],
            in: Self.environment(
                Sample.traits(refreshInterval: .zero, revokesWholeGrant: false)
            )
        )
        #expect(try machine.send(.due).contains(.check(Sample.identity, Sample.secondToken)))
        let effects = try machine.answer(check: .live, Sample.secondToken)
        #expect(effects.contains(.revoke(Sample.identity, Sample.secondToken)))
    }

    @Test func `a code that a token covered before it moved is in doubt again`() throws {
        let code = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
        let seen = Sample.credential(lastLiveAt: Sample.start)
        var machine = Machine(
            identities: [Sample.snapshot([seen, code])],
            in: Self.environment()
        )
        try machine.send(.identityChanged([Self.other([seen])]))
        #expect(machine.request.revocations[0].credentials.map(\.rotation) == [.inDoubt])
    }

    @Test(
        "a cut link of one account ends no token that may be of another",
        arguments: [true, false]
    )
    func cut(_ isNamed: Bool) throws {
        var token = Sample.credential()
        token.isUnnamed = !isNamed
        let other = Self.other([Sample.credential(id: Sample.freshToken)])
        var machine = Machine(
            identities: [Sample.snapshot([token], isCut: true), other],
            in: Self.environment()
        )
        let effects = try machine.send(.due)
        #expect(effects.contains(.check) == !isNamed)
        #expect((machine.verdict == nil) == !isNamed)
        guard !isNamed else { return }
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .alreadyGone)
        #expect(machine.request.revocations[0].proof == .notification)
    }

    @Test(
        "a later cut proves nothing of a lost code that may be of another account",
        arguments: earned
    )
    func cutLater(_ isNamed: Bool, _ expected: Verdict) throws {
        var code = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
        (code.isUnnamed, code.rotation) = (!isNamed, .inDoubt)
        let revoked = Sample.credential(.accepted, wasLive: true)
        let other = Self.other([Sample.credential(.codePending, id: Sample.secondToken)])
        var machine = Machine(
            identities: [Sample.snapshot([revoked, code]), other],
            in: Self.environment(Sample.traits(revokesWholeGrant: false))
        )
        try machine.send(.due)
        #expect(machine.verdict == .unconfirmed)
        try machine.send(.identityChanged([Sample.snapshot([revoked, code], isCut: true)]))
        #expect(machine.verdict == expected)
    }

    @Test(
        "a cut after the revocation proves nothing of an unconfirmed token of another account",
        arguments: [true, false]
    )
    func cutAfter(_ isNamed: Bool) throws {
        var token = Sample.credential(id: Sample.secondToken)
        token.isUnnamed = !isNamed
        let revoked = Sample.credential(.accepted, wasLive: true)
        let other = Self.other([Sample.credential(.accepted, id: Sample.freshToken, wasLive: true)])
        var machine = Machine(
            identities: [Sample.snapshot([revoked, token]), other],
            in: Self.environment(Sample.traits(canCheck: false, revokesWholeGrant: false))
        )
        try machine.send(.due)
        try machine.answer(revoke: .success, Sample.secondToken)
        #expect(machine.verdict == .unconfirmed && machine.request.purgeStartedAt != nil)
        #expect(machine.request.revocations[0].wouldRise(cutAt: machine.now) == isNamed)
    }

    @Test func `a cut link ends no refused token of an uncertain account`() throws {
        var token = Sample.credential(.refused)
        token.isUnnamed = true
        let other = Self.other([Sample.credential(id: Sample.freshToken)])
        var machine = Machine(
            identities: [Sample.snapshot([token], isCut: true), other],
            in: Self.environment()
        )
        try machine.send(.due)
        #expect(machine.verdict == nil)
    }

    @Test("a token that a cut link ended is asked about beside a later account", arguments: named)
    func cutBefore(_ isNamed: Bool, _ expected: Verdict?) throws {
        var token = Sample.credential()
        token.isUnnamed = !isNamed
        var machine = Machine(
            identities: [Sample.snapshot([token], isCut: true), Self.waiting],
            in: Self.environment()
        )
        try machine.send(.due)
        #expect(machine.verdict == .alreadyGone)
        let other = Self.other([Sample.credential(id: Sample.secondToken)])
        let effects = try machine.send(.identityChanged([other]))
        #expect(effects.contains(.check) == (expected == nil))
        guard expected == nil else { return }
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .alreadyGone)
    }

    @Test func `an account that becomes known during a call counts for its answer`() throws {
        var code = Sample.credential(.lost, id: Sample.freshToken, kind: .authorizationCode)
        code.rotation = .inDoubt
        var token = Sample.credential()
        token.isUnnamed = true
        var machine = Machine(
            identities: [Sample.snapshot([token, code])],
            in: Self.environment()
        )
        #expect(try machine.send(.due).contains(.check))
        machine.environment.spool = .reading
        try machine.send(
            .identityChanged([Self.other([Sample.credential(id: Sample.secondToken)])])
        )
        try machine.answer(check: .live)
        #expect(machine.request.revocations[0].hasYoungerLostCode)
    }

    private static let ends: [(RequestEvent, Bool)] = [
        (.checked(Sample.identity, Sample.token, .live), false),
        (.checked(Sample.identity, Sample.token, .failure(.lost)), true),
        (.postponed(.check, until: Sample.start), false),
    ]

    @Test("a token that moves under a call waits for its end", arguments: ends)
    func underCall(_ end: RequestEvent, _ isInDoubt: Bool) throws {
        let traits = Sample.traits(refreshInterval: .zero, rotatesRefreshTokens: true)
        var machine = Machine(in: Self.environment(traits))
        #expect(try machine.send(.due).contains(.check))
        try machine.send(.identityChanged([Self.other([Sample.credential()])]))
        #expect(machine.request.revocations.map(\.isBusy) == [true, false])
        let effects = try machine.send(end)
        #expect(effects.contains(.check(Self.account, Sample.token)))
        #expect(machine.request.revocations.map(\.isBusy) == [false, true])
        let rotation = machine.request.revocations[1].credentials[0].rotation
        #expect(rotation == .underWay(isInDoubt: isInDoubt))
    }

    @Test func `an older snapshot moves no token back, and takes no subject away`() throws {
        var token = Sample.credential()
        token.isUnnamed = true
        var machine = Machine(identities: [Sample.snapshot([token])], in: Self.environment())
        try machine.send(.identityChanged([Self.other([Sample.credential()])]))
        try machine.learn([token])
        #expect(machine.request.revocations.map(\.credentials.count) == [0, 1])
        try machine.send(.identityChanged([Self.other([token])]))
        #expect(!machine.request.revocations[1].credentials[0].isUnnamed)
    }

    /// It may be of an account whose grant did not end.
    @Test("a token without a subject does not end with the grant of one account", arguments: named)
    func ambiguous(_ isNamed: Bool, _ expected: Verdict?) throws {
        var ambiguous = Sample.credential(.unusable, id: Sample.secondToken)
        ambiguous.isUnnamed = !isNamed
        let seen = Sample.credential(lastLiveAt: Sample.start)
        let other = Self.other([Sample.credential(id: Sample.freshToken)])
        var machine = Machine(
            identities: [Sample.snapshot([seen, ambiguous]), other],
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
