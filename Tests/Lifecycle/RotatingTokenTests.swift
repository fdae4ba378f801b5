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

    private func machine(_ credential: CredentialWork) -> Machine {
        Machine(
            identities: [Sample.snapshot([credential])],
            in: Sample.environment(Self.traits)
        )
    }
}
