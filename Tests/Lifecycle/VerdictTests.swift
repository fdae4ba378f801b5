import Lifecycle
import Testing

/// The verdict that the credentials of one identity earn together.
struct VerdictTests {
    /// Two ended credentials and their verdict: where one revoke ends the whole grant, and where
    /// each token counts.
    ///
    /// `nil` means that nothing usable is left.
    struct Pair: Sendable, CustomTestStringConvertible {
        let first: CredentialStep
        let second: CredentialStep
        let wholeGrant: Verdict?
        let eachToken: Verdict?

        init(
            _ first: CredentialStep,
            _ second: CredentialStep,
            _ wholeGrant: Verdict?,
            _ eachToken: Verdict?
        ) {
            self.first = first
            self.second = second
            self.wholeGrant = wholeGrant
            self.eachToken = eachToken
        }

        var testDescription: String { "\(first) and \(second)" }
    }

    static let pairs: [Pair] = [
        Pair(.proven, .proven, .proven, .proven),
        Pair(.proven, .accepted, .proven, .accepted),
        Pair(.proven, .gone, .proven, .proven),
        Pair(.proven, .dead, .proven, .proven),
        Pair(.proven, .unusable, .proven, .proven),
        Pair(.accepted, .accepted, .accepted, .accepted),
        Pair(.accepted, .gone, .accepted, .accepted),
        Pair(.accepted, .dead, .accepted, .accepted),
        Pair(.accepted, .unusable, .accepted, .accepted),
        Pair(.gone, .gone, .alreadyGone, .alreadyGone),
        Pair(.gone, .dead, .alreadyGone, .alreadyGone),
        Pair(.gone, .unusable, .alreadyGone, .alreadyGone),
        Pair(.dead, .dead, .tokenDead, .tokenDead),
        Pair(.dead, .unusable, .tokenDead, .tokenDead),
        Pair(.unusable, .unusable, nil, nil),
        // A success for a token that was never seen live says nothing, and where each token stands
        // alone no other one speaks for it.
        Pair(.proven, .unconfirmed, .proven, .unconfirmed),
        Pair(.accepted, .unconfirmed, .accepted, .unconfirmed),
        Pair(.gone, .unconfirmed, .alreadyGone, .unconfirmed),
        Pair(.dead, .unconfirmed, nil, nil),
        Pair(.unusable, .unconfirmed, nil, nil),
        Pair(.unconfirmed, .unconfirmed, nil, nil),
        // A code whose exchange was lost may have brought a token that nobody holds.
        Pair(.proven, .lost, .proven, .unconfirmed),
        Pair(.accepted, .lost, .accepted, .unconfirmed),
        Pair(.gone, .lost, .alreadyGone, .alreadyGone),
        Pair(.dead, .lost, .tokenDead, .tokenDead),
        Pair(.unusable, .lost, nil, nil),
        Pair(.unconfirmed, .lost, nil, nil),
        Pair(.lost, .lost, nil, nil),
        // A token that the provider refused to revoke may live on.
        Pair(.proven, .refused, .proven, nil),
        Pair(.accepted, .refused, .accepted, nil),
        Pair(.gone, .refused, .alreadyGone, nil),
        Pair(.dead, .refused, nil, nil),
        Pair(.unusable, .refused, nil, nil),
        Pair(.unconfirmed, .refused, nil, nil),
        Pair(.refused, .refused, nil, nil),
        Pair(.refused, .lost, nil, nil),
    ]

    @Test("two ended credentials earn one verdict, in either order", arguments: pairs)
    func pair(_ pair: Pair) throws {
        for wholeGrant in [true, false] {
            let expected = wholeGrant ? pair.wholeGrant : pair.eachToken
            // What is unusable here is a spent code; a token behind a broken seal comes below.
            #expect(try verdict(pair.first, pair.second, wholeGrant) == expected)
            #expect(try verdict(pair.second, pair.first, wholeGrant) == expected)
        }
    }

    @Test func `the table has every pair of ended steps`() {
        let ended = CredentialStep.allCases.filter(\.isFinal)
        for first in ended {
            for second in ended {
                let isThere = Self.pairs.contains {
                    Set([$0.first, $0.second]) == Set([first, second])
                        && ($0.first == $0.second) == (first == second)
                }
                #expect(isThere, "\(first) and \(second)")
            }
        }
    }

    @Test(
        "no verdict while a credential is open",
        arguments: CredentialStep.allCases.filter { !$0.isFinal },
        CredentialStep.allCases
    )
    func open(_ first: CredentialStep, _ second: CredentialStep) throws {
        #expect(try verdict(first, second, false, provider: .failure) == nil)
        #expect(try verdict(second, first, false, provider: .failure) == nil)
    }

    @Test func `an ended token without a verdict for the grant waits for a fresh sign-in`() throws {
        let spent = Sample.credential(.unusable, kind: .authorizationCode)
        var machine = Machine(identities: [Sample.snapshot([spent])])
        try machine.send(.due)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `a token behind a broken seal may live on, so that nothing is proven`() throws {
        for kind in [CredentialKind.refreshToken, .accessToken] {
            for step in [CredentialStep.proven, .accepted, .gone, .dead] {
                let broken = Sample.credential(.unusable, id: Sample.secondToken, kind: kind)
                var machine = Machine(
                    identities: [Sample.snapshot([Sample.credential(step), broken])],
                    in: Sample.environment(
                        Sample.traits(revokesWholeGrant: false),
                        onUnrevocable: .park
                    )
                )
                try machine.send(.due)
                #expect(machine.verdict == nil)
                #expect(machine.request.phase.parkReason == .needsReauthentication)
            }
        }
    }

    @Test func `beside a dead token one that may live on keeps the verdict open`() throws {
        for wholeGrant in [true, false] {
            let lost = Sample.credential(.unusable, id: Sample.secondToken)
            var machine = Machine(
                identities: [
                    Sample.snapshot([Sample.credential(.dead, kind: .accessToken), lost])
                ],
                in: Sample.environment(
                    Sample.traits(revokesWholeGrant: wholeGrant),
                    onUnrevocable: .park
                )
            )
            try machine.send(.due)
            #expect(machine.verdict == nil)
            #expect(machine.request.phase.parkReason == .needsReauthentication)
        }
    }

    @Test func `a token behind a broken seal is cut with the whole grant`() throws {
        let broken = Sample.credential(.unusable, id: Sample.secondToken)
        var machine = Machine(identities: [
            Sample.snapshot([Sample.credential(.proven), broken])
        ])
        try machine.send(.due)
        #expect(machine.verdict == .proven)
    }

    /// What the provider's own error for an unknown token makes of a credential.
    static let refusals: [(Bool, CredentialKind, CredentialStep)] = [
        // live before, kind
        (true, .refreshToken, .proven),
        (true, .accessToken, .dead),
        (false, .refreshToken, .dead),
        (false, .accessToken, .dead),
    ]

    @Test("a refused revoke proves what was known before it", arguments: refusals)
    func refused(
        _ wasLive: Bool,
        _ kind: CredentialKind,
        _ expected: CredentialStep
    ) throws {
        let token = Sample.credential(kind: kind, lastLiveAt: wasLive ? Sample.start : nil)
        var machine = Machine(
            identities: [Sample.snapshot([token])],
            in: Sample.environment(Sample.traits(canCheck: false))
        )
        #expect(try machine.send(.due) == [.revoke])
        try machine.answer(revoke: .alreadyInvalid)
        #expect(machine.request.revocations[0].credentials[0].step == expected)
    }

    @Test(
        "a provider's word about the grant is more than one about a token",
        arguments: [true, false]
    )
    func grantGone(_ wasLive: Bool) throws {
        let token = Sample.credential(
            kind: .accessToken,
            lastLiveAt: wasLive ? Sample.start : nil
        )
        var machine = Machine(
            identities: [Sample.snapshot([token])],
            in: Sample.environment(Sample.traits(canCheck: false))
        )
        try machine.send(.due)
        try machine.answer(revoke: .grantGone)
        #expect(machine.verdict == (wasLive ? .proven : .alreadyGone))
    }

    @Test func `an account that no service can revoke for is the user's to do`() throws {
        let access = Sample.credential(id: Sample.secondToken, kind: .accessToken)
        var machine = Machine(
            identities: [Sample.snapshot([Sample.credential(), access])],
            in: Sample.environment(Sample.traits(canCheck: false))
        )
        try machine.send(.due)
        try machine.answer(revoke: .userOnly)
        #expect(machine.verdict == .manual)
    }

    @Test func `a credential that is of no use waits for a fresh sign-in`() throws {
        var machine = Machine(in: Sample.environment(Sample.traits(canCheck: false)))
        try machine.send(.due)
        try machine.answer(revoke: .unfit)
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test("an id token is used only where the provider takes one", arguments: [true, false])
    func idTokens(_ usesIDTokens: Bool) throws {
        let token = Sample.credential(.unusable, kind: .idToken)
        var machine = Machine(
            identities: [Sample.snapshot([token])],
            in: Sample.environment(
                Sample.traits(canCheck: false, extraKinds: usesIDTokens ? [.idToken] : [])
            )
        )
        let effects = try machine.send(.due)
        #expect(effects.contains(.revoke) == usesIDTokens)
        guard usesIDTokens else { return }
        try machine.answer(revoke: .unfit)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
        #expect(machine.verdict == nil)
    }

    @Test func `an answer that says nothing leads to the revoke, and never to proof`() throws {
        let environment = Sample.environment(Sample.traits(canCheck: true))
        let seen = Sample.credential(lastLiveAt: Sample.start - Sample.day * 400)
        var machine = Machine(identities: [Sample.snapshot([seen])], in: environment)
        #expect(try machine.send(.due) == [.check])
        #expect(try machine.answer(check: .unknown) == [.revoke])
        try machine.answer(revoke: .success)
        #expect(machine.request.revocations[0].verdict == .accepted)
    }

    @Test func `refresh tokens go first, and every credential is revoked`() throws {
        let access = Sample.credential(
            id: Sample.secondToken,
            kind: .accessToken,
            lastLiveAt: Sample.start
        )
        let refresh = Sample.credential(lastLiveAt: Sample.start)
        let traits = Sample.traits(canCheck: false)
        var machine = Machine(
            identities: [Sample.snapshot([access, refresh])],
            in: Sample.environment(traits)
        )
        #expect(try machine.send(.due) == [.revoke])
        let next = try machine.answer(revoke: .success)
        #expect(next == [.revoke(Sample.identity, Sample.secondToken)])
        try machine.answer(revoke: .success, Sample.secondToken)
        #expect(machine.verdict == .accepted)
    }

    @Test func `a deletion waits for the verdicts of all identities`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let traits = Sample.traits(canCheck: false)
        let first = Sample.snapshot([Sample.credential(lastLiveAt: Sample.start)])
        let second = Sample.snapshot(
            [Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start)],
            identity: other
        )
        var machine = Machine(
            identities: [first, second],
            in: Sample.environment(traits)
        )
        #expect(try machine.send(.due).count == 2)
        try machine.answer(revoke: .success)
        #expect(machine.request.phase == .open(.revoking))
        #expect(machine.request.openRevocationCount == 1)
        try machine.send(.revoked(other, Sample.secondToken, .success))
        #expect(machine.request.phase == .open(.purging))
    }

    private enum Provider { case silent, failure }

    private func verdict(
        _ first: CredentialStep,
        _ second: CredentialStep,
        _ wholeGrant: Bool,
        provider: Provider = .silent
    ) throws -> Verdict? {
        var machine = Machine(
            identities: [
                Sample.snapshot([
                    Sample.credential(first, kind: kind(first), wasLive: true),
                    Sample.credential(
                        second,
                        id: Sample.secondToken,
                        kind: kind(second),
                        wasLive: true
                    ),
                ])
            ],
            in: Sample.environment(
                Sample.traits(revokesWholeGrant: wholeGrant),
                onUnrevocable: .park
            )
        )
        if provider == .failure { machine.environment.pausedProviders = [Sample.apple] }
        try machine.send(.due)
        return machine.verdict
    }

    @Test func `every token is asked about before the revocation of one may end another`() throws {
        let traits = Sample.traits(
            canCheckAccessToken: true,
            refreshInterval: .zero,
            revokesWholeGrant: false
        )
        let access = Sample.credential(id: Sample.secondToken, kind: .accessToken)
        var machine = Machine(
            identities: [Sample.snapshot([Sample.credential(), access])],
            in: Sample.environment(traits)
        )
        let (refreshID, accessID) = (Sample.token, Sample.secondToken)
        let checks = [refreshID, accessID].map { RequestEffect.check(Sample.identity, $0) }
        let revocations = [refreshID, accessID].map { RequestEffect.revoke(Sample.identity, $0) }
        #expect(try machine.send(.due) == [checks[0]])
        #expect(try machine.answer(check: .live, refreshID) == [checks[1]])
        #expect(try machine.answer(check: .live, accessID) == [revocations[0]])
        try machine.answer(revoke: .success, refreshID)
        try machine.answer(confirm: .dead, refreshID)
        try machine.answer(revoke: .success, accessID)
        try machine.answer(confirm: .dead, accessID)
        #expect(machine.verdict == .proven)
    }

    private func kind(_ step: CredentialStep) -> CredentialKind {
        switch step {
        case .unusable, .codePending, .lost: .authorizationCode
        case .stored, .revoking, .revoked, .proven, .accepted, .unconfirmed, .gone, .dead,
            .refused:
            .refreshToken
        }
    }
}
