import Lifecycle
import Testing

/// A refresh token that each call may use up, at a provider that is asked without a budget.
struct RotatingTokenTests {
    private static let traits = Sample.traits(
        refreshInterval: .zero,
        livenessLifetime: .seconds(60),
        rotatesRefreshTokens: true
    )

    @Test func `a check that brings no answer leads to the revocation, and not to another check`()
        throws
    {
        let seen = Sample.credential(lastLiveAt: Sample.start - Sample.day)
        var machine = machine(seen)
        #expect(try machine.send(.due) == [.check])
        #expect(try machine.answer(check: .unknown) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `its pauses grow although each try begins with a check`() throws {
        for answer in [CheckAnswer.unknown, .live] {
            var machine = machine(Sample.credential())
            #expect(try machine.send(.due) == [.check])
            #expect(try machine.answer(check: answer) == [.revoke])
            for _ in 1...12 {
                try machine.answer(revoke: .failure(.rejected))
                #expect(try machine.sendDue() == [.check])
                #expect(try machine.answer(check: answer) == [.revoke])
            }
            #expect(machine.now.since(Sample.start) > .seconds(300))
            try machine.answer(revoke: .success)
            #expect(machine.request.revocations[0].failures == 0)
        }
    }

    @Test func `a token whose revocation is refused is kept while each check finds it live`() throws
    {
        var machine = machine(Sample.credential())
        #expect(try machine.send(.due) == [.check])
        for _ in 1...Limits.refusalsMax * 2 {
            #expect(try machine.answer(check: .live) == [.revoke])
            try machine.answer(revoke: .failure(.refused(Refusal(status: 422))))
            machine.pass(Limits.refusalSpacing)
            #expect(try machine.sendDue() == [.check])
        }
        try machine.answer(check: .dead)
        #expect(machine.request.revocations[0].credentials[0].step == .dead)
    }

    @Test func `what may have outlived one revocation is not accepted after another`() throws {
        var machine = machine(Sample.credential())
        #expect(try machine.send(.due) == [.check])
        #expect(try machine.answer(check: .live) == [.revoke])
        #expect(try machine.answer(revoke: .success) == [.confirm])
        try machine.answer(confirm: .live)
        #expect(try machine.sendDue() == [.check])
        #expect(try machine.answer(check: .live) == [.revoke])
        #expect(try machine.answer(revoke: .success) == [.confirm])
        // It may have been rotated, by which the successor lives on and this one is refused.
        try machine.answer(confirm: .failure(.lost))
        #expect(try machine.sendDue() == [.confirm])
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == nil)
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        #expect(machine.verdict == .unconfirmed)
    }

    private func machine(
        _ credential: CredentialWork,
        _ traits: ProviderTraits = RotatingTokenTests.traits
    ) -> Machine {
        Machine(
            identities: [Sample.snapshot([credential])],
            in: Sample.environment(traits)
        )
    }

    /// A server that rotates at each refresh, and is asked by introspection.
    private static let introspecting = Sample.traits(
        refreshInterval: .zero,
        livenessLifetime: .seconds(60),
        rotatesRefreshTokens: true,
        checksByRefresh: false
    )

    @Test func `a lost introspection leaves no doubt, since it rotates nothing`() throws {
        let seen = Sample.credential(lastLiveAt: Sample.start - Sample.day)
        var machine = machine(seen, Self.introspecting)
        #expect(try machine.send(.due) == [.check])
        try machine.answer(check: .failure(.lost))
        #expect(machine.request.revocations[0].credentials[0].rotation == .settled)
        #expect(try machine.sendDue() == [.check])
        #expect(try machine.answer(check: .live) == [.revoke])
        #expect(try machine.answer(revoke: .success) == [.confirm])
        try machine.answer(confirm: .failure(.lost))
        #expect(try machine.sendDue() == [.confirm])
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
    }

    @Test func `a token that introspection refuses is revoked all the same`() throws {
        let seen = Sample.credential(lastLiveAt: Sample.start - Sample.day)
        var machine = machine(seen, Self.introspecting)
        #expect(try machine.send(.due) == [.check])
        for _ in 1..<Limits.refusalsMax {
            try machine.answer(check: .failure(.rejected))
            machine.pass(Limits.refusalSpacing)
            #expect(try machine.sendDue() == [.check])
        }
        #expect(try machine.answer(check: .failure(.rejected)) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }
}

/// A refresh token that rotates, at a provider that is asked about none that it does not refuse.
struct RotatedUnheardTests {
    private static let refusal = RevokeAnswer.failure(.refused(Refusal(status: 400)))
    private static let seen = Sample.credential(lastLiveAt: Sample.start - Sample.day)

    private static func traits(refusesUnknown: Bool = false) -> ProviderTraits {
        Sample.traits(
            canCheck: false,
            livenessLifetime: .zero,
            rotatesRefreshTokens: true,
            refusesUnknownTokens: refusesUnknown,
            asksRefusedTokens: true
        )
    }

    private func machine(
        _ credential: CredentialWork = seen,
        _ traits: ProviderTraits = RotatedUnheardTests.traits()
    ) -> Machine {
        Machine(
            identities: [Sample.snapshot([credential])],
            in: Sample.environment(traits)
        )
    }

    private func token(_ machine: Machine) -> CredentialWork {
        machine.request.revocations[0].credentials[0]
    }

    /// What the state says of a refresh before, whether success is for live tokens alone, and what
    /// a success is worth.
    static let successes: [(TokenRotation, Bool, CredentialStep)] = [
        (.settled, false, .accepted), (.inDoubt, false, .unconfirmed),
        // The process ended in it.
        (.underWay(isInDoubt: false), false, .unconfirmed), (.inDoubt, true, .accepted),
    ]

    @Test(
        "a success for a token that may have been rotated away revokes nothing",
        arguments: successes
    )
    func success(
        _ rotation: TokenRotation,
        _ refusesUnknown: Bool,
        _ step: CredentialStep
    ) throws {
        var credential = Self.seen
        credential.rotation = rotation
        var machine = machine(credential, Self.traits(refusesUnknown: refusesUnknown))
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(token(machine).step == step)
        machine.pass(Sample.day * 7)
        try machine.send(.due)
        let verdict: Verdict = step == .accepted ? .accepted : .unconfirmed
        #expect(machine.verdict == verdict)
    }

    @Test func `a revocation that refreshes nothing leaves no doubt where its answer is lost`()
        throws
    {
        var machine = machine()
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .failure(.lost))
        #expect(try machine.sendDue() == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    /// One whose token was refused as often as it takes to give it up, and is asked about.
    private func refusedMachine() throws -> Machine {
        var machine = machine()
        var effects = try machine.send(.due)
        for count in 1...Limits.refusalsMax {
            #expect(effects == [.revoke])
            effects = try machine.answer(revoke: Self.refusal)
            guard count < Limits.refusalsMax else { break }
            machine.pass(Limits.refusalSpacing)
            effects = try machine.sendDue()
        }
        #expect(effects == [.check])
        return machine
    }

    @Test func `a refused token is asked about once, before it is given up`() throws {
        var machine = try refusedMachine()
        // A crash before the answer: the intent is durable.
        #expect(token(machine).rotation == .underWay(isInDoubt: false))
        var effects = try machine.answer(check: .failure(.rejected))
        #expect(token(machine).step == .refused)
        for _ in 0..<100 where machine.verdict == nil {
            #expect(!effects.contains(.check))
            effects =
                try effects.contains(.revoke)
                ? machine.answer(revoke: Self.refusal) : machine.sendDue()
        }
        #expect(machine.verdict == .unrevoked)
    }

    @Test func `a successor is revoked itself`() throws {
        var machine = try refusedMachine()
        #expect(try machine.answer(check: .live) == [.revoke])
        #expect(token(machine).refusals == nil)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a token that the provider calls dead is dead`() throws {
        var machine = try refusedMachine()
        try machine.answer(check: .dead)
        #expect(machine.verdict == .tokenDead)
    }

    @Test(
        "where the answer is lost, a later success is no verdict",
        arguments: [EffectFailure.lost, .unusable]
    )
    func lostAnswer(_ failure: EffectFailure) throws {
        var machine = try refusedMachine()
        try machine.answer(check: .failure(failure))
        #expect(token(machine).step == .refused)
        #expect(token(machine).rotation == .inDoubt)
        let effects = try machine.sendDue()
        #expect(effects.contains(.revoke), "\(effects)")
        try machine.answer(revoke: .success)
        #expect(machine.verdict == nil)
        for _ in 0..<10 where machine.verdict == nil { try machine.sendDue() }
        #expect(machine.verdict == .unconfirmed)
    }

    @Test func `a question that was not sent is asked later`() throws {
        var machine = try refusedMachine()
        try machine.answer(check: .failure(.unreachable))
        #expect(try machine.sendDue() == [.check])
    }
}
