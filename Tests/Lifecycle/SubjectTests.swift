import Lifecycle
import Testing

/// What the provider's id of a user earns where no token is stored.
struct SubjectTests {
    private static let subject = Sample.credential(.unusable, kind: .subject)
    private static let traits = Sample.traits(
        canCheck: false,
        refreshInterval: .zero,
        revokesWholeGrant: false,
        extraKinds: [.subject],
        canCheckSubject: true
    )

    private static func machine(
        _ credentials: [CredentialWork] = [SubjectTests.subject],
        _ traits: ProviderTraits = SubjectTests.traits
    ) -> Machine {
        Machine(identities: [Sample.snapshot(credentials)], in: Sample.environment(traits))
    }

    @Test func `a grant that is listed before and not after the revocation is proven`() throws {
        var machine = Self.machine()
        let asked = try machine.send(.due)
        #expect(asked.contains(.check))
        let listed = try machine.answer(check: .live)
        #expect(listed.contains(.revoke))
        let ended = try machine.answer(revoke: .success)
        #expect(ended.contains(.confirm))
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
        // No token was refused: the provider lists no grant.
        #expect(machine.request.revocations[0].proof == .grantGone)
    }

    @Test func `a grant that is still listed is revoked again`() throws {
        var machine = Self.machine()
        try machine.send(.due)
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .live)
        #expect(machine.verdict == nil)
        let effects = try machine.sendDue()
        #expect(effects.contains(.revoke))
    }

    @Test func `a success says nothing where no grant was listed`() throws {
        var machine = Self.machine()
        try machine.send(.due)
        let effects = try machine.answer(check: .dead)
        #expect(effects.contains(.revoke))
        try machine.answer(revoke: .success)
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        #expect(machine.verdict == .unconfirmed)
    }

    @Test func `a list that names every grant proves that there is none`() throws {
        var machine = Self.machine()
        try machine.send(.due)
        try machine.answer(check: .dead)
        try machine.answer(revoke: .grantGone)
        #expect(machine.verdict == .alreadyGone)
    }

    @Test func `a user whom the provider does not know is no success`() throws {
        var machine = Self.machine()
        try machine.send(.due)
        try machine.answer(check: .dead)
        let effects = try machine.answer(revoke: .unfit)
        #expect(!effects.contains(.check) && !effects.contains(.revoke))
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `a broken seal is not opened again`() throws {
        var machine = Self.machine()
        try machine.send(.due)
        let effects = try machine.answer(check: .failure(.sealBroken))
        #expect(!effects.contains(.check) && !effects.contains(.revoke))
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `what is proven for the user covers the tokens that are stored`() throws {
        let token = Sample.credential(id: Sample.secondToken)
        var machine = Self.machine([token, Self.subject])
        let asked = try machine.send(.due)
        #expect(asked.contains(.check))
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        let effects = try machine.answer(confirm: .dead)
        #expect(effects.contains(.revoke(Sample.identity, Sample.secondToken)))
        try machine.answer(revoke: .success, Sample.secondToken)
        #expect(machine.verdict == .proven)
    }

    @Test func `a subject that shows nothing takes nothing from a token`() throws {
        let token = Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start)
        var machine = Self.machine([token, Self.subject])
        try machine.send(.due)
        try machine.answer(check: .dead)
        try machine.answer(revoke: .success)
        try machine.answer(revoke: .success, Sample.secondToken)
        #expect(machine.verdict == .accepted)
    }

    @Test func `it is not used where the provider has no use for it`() throws {
        let token = Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start)
        let traits = Sample.traits(canCheck: false, revokesWholeGrant: false)
        var machine = Self.machine([Self.subject, token], traits)
        let effects = try machine.send(.due)
        #expect(effects.contains(.revoke(Sample.identity, Sample.secondToken)))
        try machine.answer(revoke: .success, Sample.secondToken)
        #expect(machine.verdict == .accepted)
    }
}
