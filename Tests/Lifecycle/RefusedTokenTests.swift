import Lifecycle
import Testing

/// A token that the provider refuses to revoke, again and again, while it serves others.
struct RefusedTokenTests {
    static let refusal = Refusal(status: 422, error: "validation_failed")
    static let seen = Sample.credential(lastLiveAt: Sample.start)
    /// Of a provider that cannot be asked whether a token lives.
    static let unasked = Sample.traits(canCheck: false)

    /// Answers every revocation with the same failure until nothing is tried any more.
    ///
    /// - Returns: How many calls were made.
    @discardableResult
    private func refuse(
        _ machine: inout Machine,
        with failure: EffectFailure = .refused(refusal),
        callsMax: Int = 100
    ) throws -> Int {
        for count in 0..<callsMax {
            let isGivenUp = machine.request.revocations[0].credentials[0].step == .refused
            guard try !isGivenUp && machine.sendDue().contains(.revoke) else { return count }
            try machine.answer(revoke: .failure(failure))
        }
        return callsMax
    }

    @Test func `a token that is refused for ever is given up after minutes`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Self.unasked)
        )
        let calls = try refuse(&machine)
        #expect((Limits.refusalsMax...20).contains(calls))
        let waited = machine.now.since(Sample.start)
        #expect(waited >= Limits.refusalSpacing * (Limits.refusalsMax - 1))
        #expect(waited < .seconds(7200))
        let token = machine.request.revocations[0].credentials[0]
        #expect(token.step == .refused)
        #expect(token.refusals?.last == Self.refusal)
        #expect(token.refusals?.count == Limits.refusalsMax)
        // Its user may still sign in, until the deadline, and whatever refused it may be mended.
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        let since = try #require(machine.request.revocations[0].waitingSince)
        for _ in 0..<100 where machine.verdict == nil {
            guard try machine.sendDue().contains(.revoke) else { continue }
            try machine.answer(revoke: .failure(.refused(Self.refusal)))
            guard machine.verdict == nil else { break }
            #expect(machine.request.revocations[0].waitingSince == since)
        }
        #expect(machine.verdict == .unrevoked)
        #expect(machine.request.phase == .open(.purging))
        #expect(machine.now.since(since) < Sample.day * 8)
    }

    @Test func `a token that was given up is tried again after a day, and may be revoked`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Self.unasked)
        )
        try refuse(&machine)
        let last = try #require(machine.request.revocations[0].credentials[0].refusals?.lastAt)
        #expect(try machine.sendDue().contains(.revoke))
        #expect(machine.now.since(last) >= Limits.refusedRetry)
        try machine.answer(revoke: .success)
        try machine.sendDue()
        #expect(machine.verdict == .accepted)
    }

    @Test func `what a check calls live is not given up, whatever the refusals say`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(
                Sample.traits(refreshInterval: .zero, livenessLifetime: .seconds(60))
            )
        )
        var checks = 0
        for _ in 0..<100 {
            let effects = try machine.sendDue()
            if effects.contains(.check) {
                checks += 1
                try machine.answer(check: .live)
            }
            try machine.answer(revoke: .failure(.refused(Self.refusal)))
        }
        #expect(checks > 10)
        #expect(machine.verdict == nil)
        #expect(machine.request.revocations[0].waitingSince == nil)
        // Once it is dead, nothing is left to be revoked.
        machine.pass(Sample.day * 2)
        #expect(try machine.sendDue().contains(.check))
        try machine.answer(check: .dead)
        #expect(machine.request.revocations[0].credentials[0].step == .dead)
    }

    @Test(
        "nothing but a refusal of this token counts",
        arguments: [
            EffectFailure.unreachable, .throttled(retryAfter: nil), .lost, .unusable, .rejected,
            .refusesAll(Refusal(status: 404)),
        ]
    )
    func others(_ failure: EffectFailure) throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Self.unasked)
        )
        #expect(try refuse(&machine, with: failure, callsMax: 60) == 60)
        #expect(machine.verdict == nil)
        #expect(machine.request.revocations[0].waitingSince == nil)
        #expect(machine.request.revocations[0].credentials[0].step == .revoking)
    }

    @Test func `refusals in quick succession count as one`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Self.unasked)
        )
        try machine.send(.due)
        for _ in 0..<50 {
            try machine.answer(revoke: .failure(.refused(Self.refusal)))
            machine.request.revocations[0].retryAt = nil
            #expect(try machine.send(.due) == [.revoke])
        }
        #expect(machine.request.revocations[0].credentials[0].step == .revoking)
    }

    @Test func `under park an operator's retry takes the token up again`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Self.unasked, onUnrevocable: .park)
        )
        try refuse(&machine)
        machine.pass(Sample.day / 2)
        #expect(try machine.send(.due) == [])
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        #expect(try machine.send(.retry).contains(.revoke))
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `under park a new sign-in ends the grant of the refused token`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Self.unasked, onUnrevocable: .park)
        )
        try refuse(&machine)
        let fresh = CredentialID(rowID: 99)
        let added = try machine.learn([
            Self.seen, Sample.credential(id: fresh, lastLiveAt: machine.now),
        ])
        #expect(added.contains(.revoke(Sample.identity, fresh)))
        try machine.answer(revoke: .success, fresh)
        #expect(machine.verdict == .accepted)
    }

    @Test func `where each token counts, another one's end says nothing of the refused one`() throws
    {
        let other = Sample.credential(.proven, id: CredentialID(rowID: 98))
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen, other])],
            in: Sample.environment(Sample.traits(canCheck: false, revokesWholeGrant: false))
        )
        try refuse(&machine)
        #expect(machine.verdict == nil)
        machine.pass(Sample.day * 7)
        try machine.sendDue()
        try machine.answer(revoke: .failure(.refused(Self.refusal)))
        #expect(machine.verdict == .unrevoked)
    }

    @Test func `a token that cannot be asked about is revoked without that`() throws {
        var machine = Machine()
        var checks = 0
        while try machine.sendDue().contains(.check) {
            try machine.answer(check: .failure(.rejected))
            checks += 1
            try #require(checks < 100)
        }
        try machine.answer(revoke: .success)
        #expect(machine.request.revocations[0].credentials[0].step == .unconfirmed)
    }

    @Test func `an identity of refused credentials alone does not wait for a sign-in`() throws {
        var snapshot = Sample.snapshot([], hadCredentials: true)
        snapshot.refusedCount = 1
        var machine = Machine(identities: [snapshot])
        try machine.send(.due)
        #expect(machine.verdict == .unrevoked)
        #expect(machine.request.revocations[0].hasUnheldTokens)
        machine = Machine(
            identities: [snapshot],
            in: Sample.environment(Self.unasked, onUnrevocable: .park)
        )
        try machine.send(.due)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `refused checks are no tries to revoke, and an answer ends their count`() throws {
        var machine = try checkRefusedOnceTooFew()
        #expect(try machine.answer(check: .unknown) == [.revoke])
        try machine.answer(revoke: .failure(.refused(Self.refusal)))
        let token = machine.request.revocations[0].credentials[0]
        #expect(token.step == .revoking)
        #expect(token.refusals?.count == 1)
    }

    @Test func `a refused confirmation is no refusal to revoke`() throws {
        var machine = try checkRefusedOnceTooFew()
        try machine.answer(check: .live)
        #expect(try machine.answer(revoke: .success) == [.confirm])
        for _ in 1..<Limits.confirmationsMax {
            try machine.answer(confirm: .failure(.refused(Self.refusal)))
            machine.pass(Limits.refusalSpacing)
            #expect(try machine.sendDue() == [.confirm])
        }
        try machine.answer(confirm: .failure(.refused(Self.refusal)))
        try machine.sendDue()
        let token = machine.request.revocations[0].credentials[0]
        #expect(token.step == .accepted)
        #expect(token.refusals == nil)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a token that outlived a revocation is given up once nobody says more`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.seen])],
            in: Sample.environment(Sample.traits(refreshInterval: .zero))
        )
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .live)
        #expect(try machine.sendDue() == [.revoke])
        try machine.answer(revoke: .failure(.refused(Self.refusal)))
        machine.pass(Limits.refusalSpacing)
        #expect(try machine.sendDue() == [.revoke])
        try machine.answer(revoke: .success)
        for _ in 1..<Limits.refusalsMax {
            try machine.answer(confirm: .failure(.refused(Self.refusal)))
            machine.pass(Limits.refusalSpacing)
            #expect(try machine.sendDue() == [.confirm])
        }
        try machine.answer(confirm: .failure(.refused(Self.refusal)))
        let token = machine.request.revocations[0].credentials[0]
        #expect(token.step == .refused)
        #expect(token.refusals?.count == Limits.refusalsMax)
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    /// A token that was refused at all checks but one, and is being checked once more.
    private func checkRefusedOnceTooFew() throws -> Machine {
        var machine = Machine(in: Sample.environment(Sample.traits(refreshInterval: .zero)))
        try machine.send(.due)
        for _ in 1..<Limits.refusalsMax {
            try machine.answer(check: .failure(.refused(Self.refusal)))
            machine.pass(Limits.refusalSpacing)
            #expect(try machine.sendDue() == [.check])
        }
        return machine
    }

    @Test func `a credential of a provider that is unknown ends as unrevoked, visibly`() throws {
        var snapshot = Sample.snapshot(
            [],
            provider: ProviderName("nowhere"),
            hadCredentials: true
        )
        snapshot.refusedCount = 1
        var machine = Machine(identities: [snapshot])
        try machine.send(.due)
        #expect(machine.verdict == .unrevoked)
        #expect(machine.request.revocations[0].hasUnheldTokens)
    }
}
