import Testing

@testable import Lifecycle

@Suite("the lookup in a directory")
struct LookupTests {
    private static let directory = ProviderName("firebase")
    private static let google = ProviderName("google")
    private static let password = ProviderName("password")

    private static func machine(
        identities: [IdentitySnapshot] = [],
        onUnrevocable: OnUnrevocable = .proceed
    ) -> Machine {
        var environment = Sample.environment(onUnrevocable: onUnrevocable)
        environment.providers[google] = environment.providers[Sample.apple]
        environment.directory = directory
        var machine = Machine(identities: identities, in: environment)
        machine.request.lookup = LookupWork(directory: directory)
        return machine
    }

    private static func link(
        _ provider: ProviderName,
        _ number: UInt64 = 50,
        isLocal: Bool = false,
        subject: [UInt8]? = nil
    ) -> LinkedIdentity {
        LinkedIdentity(
            identity: IdentityID(TimeOrderedID(high: number, low: number)),
            provider: provider,
            isLocal: isLocal,
            subjectHash: subject
        )
    }

    private static func signIn(
        _ subject: [UInt8]?,
        identity: IdentityID = Sample.identity,
        clientID: String = "com.example.app",
        token: CredentialID = Sample.token,
        lastLiveAt: WallTime? = Sample.start
    ) -> IdentitySnapshot {
        let seen = Sample.credential(id: token, lastLiveAt: lastLiveAt)
        var snapshot = Sample.snapshot([seen], identity: identity, clientID: clientID)
        snapshot.subjectHash = subject
        return snapshot
    }

    @Test("the directory is asked before anything is revoked, in its own lane")
    func first() throws {
        var machine = Self.machine(identities: [Sample.snapshot()])
        #expect(machine.request.lane == Self.directory)
        #expect(try machine.send(.due) == [.lookUp(Self.directory)])
        #expect(machine.request.isBusy && machine.request.openRevocationCount == 2)
        let effects = try machine.send(.lookedUp(.found([])))
        #expect(effects == [.check(Sample.identity, Sample.token)])
        #expect(machine.request.lane == Sample.apple)
    }

    @Test("an unknown user without identities is purged, and a password is nothing to revoke")
    func nothing() throws {
        var machine = Self.machine()
        try machine.send(.due)
        let effects = try machine.send(
            .lookedUp(.found([Self.link(Self.password, isLocal: true)]))
        )
        #expect(effects.contains(.announce(.verdict(Self.password, .nothingToRevoke, calls: 0))))
        #expect(effects.contains(.purge(Sample.database)))
        #expect(machine.request.revocations.map(\.verdict) == [.nothingToRevoke])
    }

    @Test("a failure is retried later and never taken for an answer")
    func retries() throws {
        var machine = Self.machine()
        try machine.send(.due)
        #expect(try machine.send(.lookedUp(.failure(.unusable))) == [])
        #expect(machine.request.purgeStartedAt == nil)
        #expect(machine.request.lookup?.lastFailure == "unusable_answer")
        #expect(machine.request.phase == .open(.revoking))
        #expect(try machine.sendDue() == [.lookUp(Self.directory)])
        #expect(machine.request.lookup?.attempts == 2)
    }

    @Test("a directory that refuses us is paused, and one that is not configured waits, too")
    func paused() throws {
        var machine = Self.machine()
        try machine.send(.due)
        let effects = try machine.send(.lookedUp(.failure(.misconfigured)))
        #expect(effects.contains(.pauseProvider(Self.directory)))
        #expect(machine.request.phase.parkReason == .providerPaused)
        machine.environment.directory = nil
        let unknown = try machine.send(.due)
        #expect(unknown == [.announce(.parked(.unknownProvider, at: Self.directory))])
        #expect(machine.request.lookup?.lastFailure == ParkReason.unknownProvider.rawValue)
    }

    @Test("a link that the vault has is that identity; a link to another subject is not")
    func covered() throws {
        var machine = Self.machine(identities: [Self.signIn([1])])
        try machine.send(.due)
        let stranger = Self.link(Sample.apple, subject: [2])
        let own = Self.link(Sample.apple, 51, subject: [1])
        try machine.send(.lookedUp(.found([own, stranger])))
        #expect(machine.request.revocations.map(\.isLinked) == [false, true])
        try machine.send(.lookedUp(.found([Self.link(Self.google)])))
        #expect(machine.request.revocations.count == 2)
    }

    @Test("an account or a sign-in without a name ends none of several links")
    func severalLinks() throws {
        let links = (UInt64(1)...2).map { number in
            LinkedIdentity(
                identity: IdentityID(TimeOrderedID(high: 60, low: number)),
                provider: Sample.apple,
                isLocal: false,
                subjectHash: [UInt8(number)]
            )
        }
        var held = Self.machine(identities: [Sample.snapshot()])
        try held.send(.due)
        try held.send(.lookedUp(.found(links)))
        let heldIdentities = held.request.revocations.map(\.identity)
        #expect(heldIdentities == [Sample.identity] + links.map(\.identity))
        let later = IdentityID(TimeOrderedID(high: 70, low: 1))
        let live = Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start)
        let signIn = Sample.snapshot([live], identity: later, clientID: "com.example.web")
        try held.send(.identityChanged([signIn]))
        try held.send(.revoked(later, Sample.secondToken, .success))
        try held.send(.confirmed(later, Sample.secondToken, .dead))
        // The sign-in may be the account's that the vault has, under another client.
        #expect(held.request.revocations.map(\.verdict) == [nil, nil, nil, .proven])
        var machine = Self.machine()
        try machine.send(.due)
        try machine.send(.lookedUp(.found(links)))
        #expect(machine.request.revocations.map(\.isLinked) == [true, true])
        let seen = Sample.credential(lastLiveAt: Sample.start)
        try machine.send(.identityChanged([Sample.snapshot([seen])]))
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        // The sign-in may be the second account's, while the first one's grant lives.
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil, .proven])
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        #expect(machine.request.revocations.map(\.verdict) == [.unrevoked, .unrevoked, .proven])
    }

    @Test("a link without any credential waits for a sign-in and ends unrevoked at the deadline")
    func unrevoked() throws {
        var machine = Self.machine()
        try machine.send(.due)
        try machine.send(.lookedUp(.found([Self.link(Self.google)])))
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        machine.pass(Sample.day * 7)
        let effects = try machine.send(.due)
        #expect(machine.request.revocations.map(\.verdict) == [.unrevoked])
        #expect(effects.contains(.purge(Sample.database)))
    }

    @Test("under park such a link waits as long as it takes, and an operator ends it")
    func park() throws {
        var machine = Self.machine(onUnrevocable: .park)
        try machine.send(.due)
        try machine.send(.lookedUp(.found([Self.link(Self.google)])))
        machine.pass(Sample.day * 3_000)
        #expect(try machine.send(.due).isEmpty)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        try machine.send(.abandon)
        #expect(machine.request.revocations.map(\.verdict) == [.abandoned])
    }

    @Test("a link to a provider that nobody configured is unrevoked at once")
    func unconfigured() throws {
        var machine = Self.machine()
        try machine.send(.due)
        try machine.send(.lookedUp(.found([Self.link(ProviderName("github.com"))])))
        #expect(machine.request.revocations.map(\.verdict) == [.unrevoked])
        #expect(machine.request.purgeStartedAt != nil)
    }

    /// The link's subject, and its verdict once the sign-in of subject 1 is proven to be revoked.
    private static let subjects: [([UInt8]?, [UInt8]?, Verdict?)] = [
        ([1], [1], .proven), ([2], [1], nil), ([1], nil, .unconfirmed),
        (nil, [1], .unconfirmed), (nil, nil, .unconfirmed),
    ]

    @Test("a link ends with a later sign-in of the same account alone", arguments: subjects)
    func joined(_ linked: [UInt8]?, _ subject: [UInt8]?, _ expected: Verdict?) throws {
        var machine = Self.machine(onUnrevocable: .park)
        try machine.send(.due)
        try machine.send(.lookedUp(.found([Self.link(Sample.apple, subject: linked)])))
        try machine.send(.identityChanged([Self.signIn(subject)]))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil])
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.request.revocations.map(\.verdict) == [expected, .proven])
        #expect((machine.request.purgeStartedAt != nil) == (expected != nil))
    }

    @Test func `a link has the weakest verdict of its account's sign-ins`() throws {
        let web = IdentityID(TimeOrderedID(high: 70, low: 1))
        var machine = Self.machine()
        try machine.send(.due)
        try machine.send(.lookedUp(.found([Self.link(Sample.apple, subject: [1])])))
        let unseen = Self.signIn(
            [1],
            identity: web,
            clientID: "web",
            token: Sample.secondToken,
            lastLiveAt: nil
        )
        try machine.send(.identityChanged([unseen, Self.signIn([1])]))
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        try machine.send(.checked(web, Sample.secondToken, .unknown))
        try machine.send(.revoked(web, Sample.secondToken, .success))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil, .proven])
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        let verdicts = machine.request.revocations.map(\.verdict)
        #expect(verdicts == [.unconfirmed, .unconfirmed, .proven])
    }

    @Test func `a link waits for a sign-in that may be of its account`() throws {
        var machine = Self.machine()
        try machine.send(.due)
        try machine.send(.lookedUp(.found([Self.link(Sample.apple, subject: [1])])))
        var token = Sample.credential(lastLiveAt: Sample.start)
        token.isUnnamed = true
        try machine.send(.identityChanged([Sample.snapshot([token])]))
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil])
        try machine.send(.identityChanged([Self.signIn([1])]))
        #expect(machine.request.revocations.map(\.verdict) == [nil, nil])
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .dead)
        #expect(machine.request.revocations.map(\.verdict) == [.proven, .proven])
    }

    @Test func `links are compared once no code is about to name its account`() throws {
        let code = Sample.credential(.codePending, kind: .authorizationCode)
        var machine = Self.machine(identities: [Sample.snapshot([code])])
        #expect(try machine.send(.due) == [])
        #expect(machine.request.phase == .open(.revoking) && !machine.request.isBusy)
        var paused = machine
        paused.environment.pausedProviders = [Sample.apple]
        #expect(try paused.send(.due) == [.lookUp(Self.directory)])
        let spent = Sample.credential(.unusable, kind: .authorizationCode)
        let token = Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start)
        var named = Sample.snapshot([spent, token])
        named.subjectHash = [1]
        #expect(try machine.send(.identityChanged([named])) == [.lookUp(Self.directory)])
        try machine.send(.lookedUp(.found([Self.link(Sample.apple, subject: [2])])))
        #expect(machine.request.revocations.map(\.isLinked) == [false, true])
    }

    @Test("a postponed call is no attempt, and abandoning ends the lookup too")
    func operations() throws {
        var machine = Self.machine()
        try machine.send(.due)
        let later = machine.now + .seconds(30)
        try machine.send(.postponed(.lookUp(Self.directory), until: later))
        #expect(machine.request.lookup?.attempts == 0 && machine.request.dueAt == later)
        try machine.send(.abandon)
        #expect(machine.request.lookup?.isDone == true && machine.request.purgeStartedAt != nil)
        #expect(machine.request.revocations.map(\.provider) == [Self.directory])
        #expect(machine.request.revocations.map(\.verdict) == [.abandoned])
    }

    @Test("a deletion from before the directory asks it, once no call is under way")
    func adopted() throws {
        var machine = Machine()
        try machine.send(.due)
        machine.environment.directory = Self.directory
        #expect(try machine.send(.due).isEmpty && machine.request.lookup == nil)
        #expect(try machine.answer(check: .live) == [.lookUp(Self.directory)])
        #expect(machine.request.lane == Self.directory)
        #expect(try machine.send(.lookedUp(.found([]))) == [.revoke])
    }

    @Test("a deletion whose last revocation was answered asks a new directory before the purge")
    func adoptedLast() throws {
        var machine = Machine()
        try machine.send(.due)
        try machine.answer(check: .live)
        machine.environment.directory = Self.directory
        #expect(try machine.answer(revoke: .success) == [.lookUp(Self.directory)])
        #expect(machine.request.purgeStartedAt == nil)
        let effects = try machine.send(.lookedUp(.found([Self.link(Self.password, isLocal: true)])))
        #expect(effects.contains(.purge(Sample.database)))
        #expect(machine.request.revocations.map(\.verdict) == [.accepted, .nothingToRevoke])
    }

    @Test("a purge that has begun asks no new directory, nor does revoking alone")
    func notAdopted() throws {
        var machine = Machine()
        try machine.revokeEverything()
        machine.environment.directory = Self.directory
        try machine.answer(purge: .done(PurgeCounts()))
        #expect(machine.request.lookup == nil)
        var revoking = Machine(.revokeTokens)
        revoking.environment.directory = Self.directory
        try revoking.send(.due)
        #expect(revoking.request.lookup == nil)
    }

    @Test("revoking alone asks no directory")
    func revokeTokens() {
        let request = Request(
            id: RequestID(TimeOrderedID(high: 7, low: 7)),
            kind: .revokeTokens,
            createdAt: Sample.start,
            acceptedAt: Sample.start,
            notBefore: Sample.start,
            deadlineAt: Sample.start,
            identities: [],
            stores: [],
            directory: Self.directory
        )
        #expect(request.lookup == nil)
    }
}
