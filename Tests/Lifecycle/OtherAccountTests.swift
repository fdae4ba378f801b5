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
        try machine.send(.identityChanged(Self.other([Sample.credential()])))
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
        try machine.send(.identityChanged(waiting))
        machine.pass(Sample.day * 7 - .seconds(1))
        machine.request.revocations[1].waitingSince = machine.now
        machine.pass(.seconds(1))
        try machine.send(.due)
        #expect(machine.request.revocations.map(\.verdict) == [.unrevoked, nil])
        try machine.send(.identityChanged(Self.other([Sample.credential()])))
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
        #expect(try machine.send(.identityChanged(Self.other([spent]))).contains(.revoke))
    }

    @Test func `a token whose account became known is revoked there alone`() throws {
        let live = Sample.credential(lastLiveAt: Sample.start)
        let code = Sample.credential(.codePending, id: Sample.freshToken, kind: .authorizationCode)
        var machine = Machine(identities: [Sample.snapshot([live, code])])
        try machine.send(.due)
        #expect(!machine.request.isBusy)
        let effects = try machine.send(.identityChanged(Self.other([live])))
        #expect(machine.request.revocations[0].credentials.map(\.id) == [Sample.freshToken])
        #expect(machine.request.revocations[1].credentials.map(\.id) == [Sample.token])
        #expect(!effects.contains(.revoke))
    }

    @Test func `a token stays where its revocation has begun, and says nothing of that account`()
        throws
    {
        var machine = Machine()
        try machine.send(.due)
        try machine.answer(check: .live)
        try machine.send(.identityChanged(Self.other([Sample.credential()])))
        try machine.send(.revoked(Sample.identity, Sample.token, .success))
        #expect(machine.request.revocations[0].credentials.map(\.id) == [Sample.token])
        #expect(machine.request.revocations[0].credentials.map(\.step.isFinal) == [true])
        #expect(machine.request.revocations[0].verdict == nil)
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
