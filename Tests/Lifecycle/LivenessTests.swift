import Lifecycle
import Testing

/// Apple's budget: a token may be asked about once a day, and "live" holds for a day.
struct LivenessTests {
    @Test func `a token from an exchange today is revoked, confirmed and proven`() throws {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start - .seconds(60)))
        #expect(try machine.send(.due) == [.revoke])
        #expect(try machine.answer(revoke: .success) == [.confirm])
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
    }

    @Test func `a check spends the budget, so the revoke counts as accepted`() throws {
        var machine = machine(Sample.credential())
        #expect(try machine.send(.due) == [.check])
        #expect(try machine.answer(check: .live) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a refresh by an earlier request spends the budget too`() throws {
        let earlier = Sample.start - .seconds(3600)
        var machine = machine(Sample.credential(lastLiveAt: earlier, lastRefreshAt: earlier))
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    /// Age of the last token answer, whether it was a refresh, and the first call.
    static let firstCalls: [(Duration, Bool, RequestEffect)] = [
        (.seconds(86_399), false, .revoke),
        (.seconds(86_400), false, .check),
        (.seconds(86_399), true, .revoke),
        (.seconds(86_400), true, .check),
        (.seconds(86_400 * 400), true, .check),
    ]

    @Test("live is what answered within 24 h", arguments: firstCalls)
    func firstCall(_ age: Duration, _ isRefresh: Bool, _ expected: RequestEffect) throws {
        let answered = Sample.start - age
        let token = Sample.credential(
            lastLiveAt: answered,
            lastRefreshAt: isRefresh ? answered : nil
        )
        var machine = machine(token)
        #expect(try machine.send(.due) == [expected])
    }

    @Test func `a dead token was never revoked by us`() throws {
        var machine = machine(Sample.credential())
        try machine.send(.due)
        try machine.answer(check: .dead)
        #expect(machine.verdict == .tokenDead)
    }

    @Test func `a revoke of a token that was not known to be live proves nothing`() throws {
        let refreshed = Sample.start - .seconds(60)
        var machine = machine(Sample.credential(lastRefreshAt: refreshed))
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.request.revocations[0].credentials[0].step == .unconfirmed)
        #expect(machine.verdict == nil)
    }

    @Test func `an access token is revoked without being asked about`() throws {
        var machine = machine(Sample.credential(kind: .accessToken, lastLiveAt: Sample.start))
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a token that outlives its revoke is revoked again, and then only proof counts`()
        throws
    {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start))
        try machine.send(.due)
        try machine.answer(revoke: .success)
        #expect(try machine.answer(confirm: .live) == [])
        #expect(machine.verdict == nil)
        #expect(try machine.sendDue() == [.revoke])
        #expect(try machine.answer(revoke: .success) == [])
        #expect(machine.verdict == nil)
        #expect(machine.request.dueAt == Sample.start + Sample.day)
        #expect(try machine.sendDue() == [.confirm])
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
    }

    @Test func `only proof counts also where a refresh is rarer than life is long`() throws {
        let traits = Sample.traits(refreshInterval: Sample.day * 2, livenessLifetime: Sample.day)
        var machine = machine(Sample.credential(lastLiveAt: Sample.start), traits)
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .live)
        machine.pass(Sample.day)
        #expect(try machine.send(.due) == [.revoke])
        #expect(try machine.answer(revoke: .success) == [])
        #expect(machine.verdict == nil)
        #expect(machine.request.dueAt == Sample.start + Sample.day * 2)
        #expect(try machine.sendDue() == [.confirm])
        try machine.answer(confirm: .dead)
        #expect(machine.verdict == .proven)
    }

    @Test func `the proof of one token does not hold up the next`() throws {
        let tokens = [
            Sample.credential(lastLiveAt: Sample.start),
            Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start),
        ]
        var machine = Machine(identities: [Sample.snapshot(tokens)])
        try machine.send(.due)
        try machine.answer(revoke: .success)
        try machine.answer(confirm: .live)
        #expect(try machine.sendDue() == [.revoke])
        let next = try machine.answer(revoke: .success)
        #expect(next == [.revoke(Sample.identity, Sample.secondToken)])
    }

    @Test func `a confirmation that keeps failing leaves an accepted revoke`() throws {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start))
        try machine.send(.due)
        try machine.answer(revoke: .success)
        for _ in 1..<Limits.confirmationsMax {
            try machine.answer(confirm: .failure(.unusable))
            #expect(machine.verdict == nil)
            #expect(try machine.sendDue() == [.confirm])
        }
        try machine.answer(confirm: .failure(.unusable))
        try machine.sendDue()
        #expect(machine.verdict == .accepted)
    }

    @Test func `a check whose answer is lost is repeated where nobody saw the token live`() throws {
        var machine = machine(Sample.credential())
        #expect(try machine.send(.due) == [.check])
        try machine.answer(check: .failure(.lost))
        let dueAt = try #require(machine.request.dueAt)
        #expect(dueAt.since(machine.now) <= Limits.backoffBase)
        // A provider that counts the lost one asks for a pause.
        #expect(try machine.sendDue() == [.check])
        try machine.answer(check: .failure(.throttled(retryAfter: Sample.day)))
        #expect(try machine.sendDue() == [.check])
        try machine.answer(check: .live)
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a check whose answer is lost spends the budget, so the revoke goes on without it`()
        throws
    {
        let seen = Sample.start - Sample.day * 400
        var machine = machine(Sample.credential(lastLiveAt: seen))
        #expect(try machine.send(.due) == [.check])
        try machine.answer(check: .failure(.lost))
        let dueAt = try #require(machine.request.dueAt)
        #expect(dueAt.since(machine.now) <= Limits.backoffBase)
        #expect(try machine.sendDue() == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a lost check never turns a refused revoke into proof`() throws {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start - Sample.day * 2))
        try machine.send(.due)
        try machine.answer(check: .failure(.lost))
        try machine.sendDue()
        try machine.answer(revoke: .alreadyInvalid)
        #expect(machine.verdict == .tokenDead)
    }

    @Test func `a confirmation whose answer is lost spends the budget, so the revoke is accepted`()
        throws
    {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start))
        try machine.send(.due)
        #expect(try machine.answer(revoke: .success) == [.confirm])
        try machine.answer(confirm: .failure(.lost))
        #expect(machine.verdict == .accepted)
    }

    @Test func `where asking has no budget a lost check is asked again`() throws {
        let traits = Sample.traits(refreshInterval: .zero)
        var machine = machine(Sample.credential(), traits)
        try machine.send(.due)
        try machine.answer(check: .failure(.lost))
        #expect(try machine.sendDue() == [.check])
    }

    @Test func `a crash after the revoke repeats it and still proves it`() throws {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start))
        try machine.send(.due)
        // What a restart reads back: the intent, and nothing in flight.
        machine.request.revocations[0].isBusy = false
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .alreadyInvalid)
        #expect(machine.verdict == .proven)
    }

    @Test func `a pause does not keep what is revoked from its verdict`() throws {
        var machine = machine(Sample.credential(kind: .accessToken, lastLiveAt: Sample.start))
        try machine.send(.due)
        machine.environment.pausedProviders = [Sample.apple]
        try machine.answer(revoke: .success)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a proof that takes a call waits for the end of a pause`() throws {
        var machine = machine(Sample.credential(lastLiveAt: Sample.start))
        try machine.send(.due)
        machine.environment.pausedProviders = [Sample.apple]
        try machine.answer(revoke: .success)
        #expect(machine.request.phase.parkReason == .providerPaused)
        machine.environment.pausedProviders = []
        #expect(try machine.send(.due).first == .confirm)
    }

    private func machine(
        _ credential: CredentialWork,
        _ traits: ProviderTraits = Sample.traits()
    ) -> Machine {
        Machine(
            identities: [Sample.snapshot([credential])],
            in: Sample.environment(traits)
        )
    }
}
