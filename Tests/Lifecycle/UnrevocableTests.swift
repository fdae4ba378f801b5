import Lifecycle
import Testing

/// What happens when no usable credential is left, and when the clock for it runs.
struct UnrevocableTests {
    static let spent = Sample.credential(.unusable, kind: .authorizationCode)

    @Test func `proceed waits until the revocation deadline and ends as unrevoked`() throws {
        var machine = Machine(identities: [Sample.snapshot([Self.spent])])
        let until = Sample.start + Sample.day * 7
        try machine.send(.due)
        #expect(machine.request.phase == .parked(.revoking, .needsReauthentication, until: until))
        machine.now = until - .milliseconds(1)
        try machine.send(.due)
        #expect(machine.verdict == nil)
        machine.now = until
        try machine.send(.due)
        #expect(machine.verdict == .unrevoked)
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `park waits for as long as it takes`() throws {
        var machine = Machine(
            identities: [Sample.snapshot([Self.spent])],
            in: Sample.environment(onUnrevocable: .park)
        )
        try machine.send(.due)
        machine.pass(Sample.day * 4000)
        try machine.send(.due)
        #expect(machine.verdict == nil)
        #expect(machine.request.dueAt == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `a provider that the configuration lacks shows beside an awaited sign-in`() throws {
        let unknown = Sample.snapshot(
            [Sample.credential(id: Sample.secondToken)],
            identity: IdentityID(TimeOrderedID(high: 1, low: 2)),
            provider: ProviderName("gone")
        )
        var machine = Machine(
            identities: [Sample.snapshot([Self.spent]), unknown],
            in: Sample.environment(onUnrevocable: .park)
        )
        let effects = try machine.send(.due)
        #expect(machine.request.phase == .parked(.revoking, .unknownProvider, until: nil))
        #expect(effects.contains(.announce(.parked(.unknownProvider, at: unknown.provider))))
        let failure = ParkReason.unknownProvider.rawValue
        #expect(machine.request.revocations.map(\.lastFailure) == [nil, failure])
        machine.environment.providers[unknown.provider] =
            machine.environment.providers[Sample.apple]
        machine.environment.pausedProviders = [unknown.provider]
        try machine.send(.due)
        #expect(machine.request.revocations.map(\.lastFailure) == [nil, nil])
    }

    @Test func `a revocation without data does not wait under proceed`() throws {
        var machine = Machine(.revokeTokens, identities: [Sample.snapshot([Self.spent])])
        try machine.send(.due)
        #expect(machine.verdict == .unrevoked)
        #expect(machine.request.phase == .completed)
    }

    @Test func `a revocation without data waits under park`() throws {
        var machine = Machine(
            .revokeTokens,
            identities: [Sample.snapshot([Self.spent])],
            in: Sample.environment(onUnrevocable: .park)
        )
        try machine.send(.due)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test(
        "an outage never starts the clock",
        arguments: [EffectFailure.unreachable, .throttled(retryAfter: nil), .lost, .unusable]
    )
    func outage(_ failure: EffectFailure) throws {
        var machine = Machine()
        for _ in 0..<60 {
            #expect(try machine.sendDue() == [.check])
            try machine.answer(check: .failure(failure))
            machine.pass(Sample.day)
        }
        #expect(machine.verdict == nil)
        #expect(machine.request.revocations[0].waitingSince == nil)
        #expect(machine.request.revocations[0].attempts == 60)
    }

    @Test func `a pause for a configuration error never starts the clock`() throws {
        var machine = Machine()
        try machine.send(.due)
        try machine.answer(check: .failure(.misconfigured))
        machine.environment.pausedProviders = [Sample.apple]
        machine.pass(Sample.day * 60)
        try machine.send(.due)
        #expect(machine.request.phase == .parked(.revoking, .providerPaused, until: nil))
        #expect(machine.request.revocations[0].waitingSince == nil)
    }

    @Test func `a sealed vault never starts the clock`() throws {
        var machine = Machine(identities: [Sample.snapshot([Self.spent])])
        machine.environment.isVaultOpen = false
        try machine.send(.due)
        #expect(machine.request.revocations[0].waitingSince == nil)
    }

    @Test func `a fresh credential ends the wait and stops the clock`() throws {
        var machine = Machine(identities: [Sample.snapshot([Self.spent])])
        try machine.send(.due)
        machine.pass(Sample.day * 6)
        let fresh = Sample.credential(id: Sample.freshToken)
        #expect(
            try machine.learn([Self.spent, fresh])
                == [.check(Sample.identity, Sample.freshToken), .announce(.resumed)]
        )
        #expect(machine.request.revocations[0].waitingSince == nil)
        // The token turns out to be unreadable: the wait starts anew.
        try machine.answer(check: .failure(.sealBroken), Sample.freshToken)
        let until = machine.now + Sample.day * 7
        #expect(machine.request.phase == .parked(.revoking, .needsReauthentication, until: until))
    }

    @Test func `a credential that joins reopens a verdict before the purge`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let waiting = Sample.snapshot(
            [Sample.credential(.codePending, id: Sample.secondToken, kind: .authorizationCode)],
            identity: other,
            clientID: "com.example.web"
        )
        var machine = Machine(identities: [Sample.snapshot(), waiting])
        try machine.revokeEverything()
        #expect(machine.verdict == .accepted)
        let fresh = Sample.credential(id: Sample.freshToken)
        #expect(try machine.learn([fresh]) == [.check(Sample.identity, Sample.freshToken)])
        #expect(machine.verdict == nil)
    }

    @Test func `a credential that is known already changes no verdict`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let waiting = Sample.snapshot(
            [Sample.credential(.codePending, id: Sample.secondToken, kind: .authorizationCode)],
            identity: other,
            clientID: "com.example.web"
        )
        var machine = Machine(identities: [Sample.snapshot(), waiting])
        try machine.revokeEverything()
        try machine.learn([Sample.credential()])
        #expect(machine.verdict == .accepted)
        #expect(machine.request.revocations[0].credentials[0].step == .accepted)
    }

    @Test func `a revocation that ends the whole grant waits for the code beside the token`()
        throws
    {
        let code = Sample.credential(
            .codePending,
            id: Sample.secondToken,
            kind: .authorizationCode
        )
        var machine = Machine(identities: [Sample.snapshot([Sample.credential(), code])])
        try machine.send(.due)
        #expect(try machine.answer(check: .live) == [])
        #expect(machine.request.phase == .open(.revoking))
        let lost = Sample.credential(.lost, id: Sample.secondToken, kind: .authorizationCode)
        #expect(try machine.learn([Sample.credential(), lost]).count == 1)
        #expect(machine.request.revocations[0].credentials[0].step == .revoking)
        #expect(machine.request.revocations[0].credentials[1].rotation.isInDoubt == false)
    }

    @Test func `a code that is lost after the revocation leaves it unconfirmed`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let waiting = Sample.snapshot(
            [Sample.credential(.codePending, id: Sample.secondToken, kind: .authorizationCode)],
            identity: other,
            clientID: "com.example.web"
        )
        var machine = Machine(identities: [Sample.snapshot(), waiting])
        try machine.revokeEverything()
        #expect(machine.verdict == .accepted)
        let kind = CredentialKind.authorizationCode
        try machine.learn([Sample.credential(.codePending, id: Sample.freshToken, kind: kind)])
        #expect(machine.verdict == nil)
        try machine.learn([Sample.credential(.lost, id: Sample.freshToken, kind: kind)])
        #expect(machine.verdict == .unconfirmed)
    }

    @Test func `a code that is exchanged brings its token into the request`() throws {
        let code = Sample.credential(.codePending, kind: .authorizationCode)
        var machine = Machine(identities: [Sample.snapshot([code])])
        #expect(try machine.send(.due) == [])
        #expect(machine.request.phase == .open(.revoking))
        #expect(machine.request.dueAt == nil)
        let spent = Sample.credential(.unusable, kind: .authorizationCode)
        let token = Sample.credential(id: Sample.freshToken, lastLiveAt: machine.now)
        #expect(
            try machine.learn([spent, token]) == [.revoke(Sample.identity, Sample.freshToken)]
        )
    }

    @Test func `a code that is lost leaves the request waiting for a sign-in`() throws {
        let code = Sample.credential(.codePending, kind: .authorizationCode)
        var machine = Machine(identities: [Sample.snapshot([code])])
        try machine.send(.due)
        #expect(
            try machine.learn([Self.spent]) == [.announce(.parked(.needsReauthentication))]
        )
        #expect(machine.request.revocations[0].waitingSince == machine.now)
    }

    @Test func `a new identity joins until the purge and is refused from then on`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let joining = Sample.snapshot(
            [Sample.credential(id: Sample.freshToken)],
            identity: other
        )
        var machine = Machine()
        try machine.send(.due)
        #expect(try machine.send(.identityChanged([joining])).count == 1)
        #expect(machine.request.revocations.count == 2)
        machine = try PhaseRow.open(.purging).machine(.deleteAccount)
        #expect(throws: OperationRefusal.deletionInProgress) {
            try machine.send(.identityChanged([joining]))
        }
    }

    @Test func `a filter keeps other providers out`() throws {
        let other = ProviderName("other")
        let foreign = Sample.snapshot(provider: other)
        var machine = Machine(.revokeTokens)
        machine.request = Request(
            id: machine.request.id,
            kind: .revokeTokens,
            createdAt: Sample.start,
            acceptedAt: Sample.start,
            notBefore: Sample.start,
            deadlineAt: Sample.start,
            providerFilter: [Sample.apple],
            identities: [foreign],
            stores: [Sample.database]
        )
        #expect(machine.request.revocations.isEmpty)
        #expect(machine.request.purges.isEmpty)
        try machine.send(.identityChanged([foreign]))
        #expect(machine.request.revocations.isEmpty)
        #expect(machine.request.phase == .completed)
    }

    @Test func `a deletion without identities goes on, or waits, as configured`() throws {
        var machine = Machine(identities: [])
        #expect(
            try machine.send(.due) == [.announce(.purgeStarted), .purge(Sample.database)]
        )
        machine = Machine(identities: [])
        machine.environment.withoutIdentities = .park
        try machine.send(.due)
        #expect(machine.request.phase == .parked(.revoking, .needsReauthentication, until: nil))
        #expect(try machine.learn([Sample.credential()]) == [.check, .announce(.resumed)])
    }

    @Test func `an operator may end the wait for a first identity`() throws {
        var machine = Machine(identities: [])
        machine.environment.withoutIdentities = .park
        try machine.send(.due)
        #expect(
            try machine.send(.abandon) == [
                .announce(.abandoned), .announce(.purgeStarted), .purge(Sample.database),
                .announce(.resumed),
            ]
        )
        #expect(machine.request.isWithoutIdentities)
    }

    @Test func `the end of the wait for an identity outlives a hold, and is given once`() throws {
        var machine = Machine(identities: [])
        machine.environment.withoutIdentities = .park
        try machine.send(.due)
        try machine.send(.hold)
        try machine.send(.abandon)
        #expect(machine.request.phase.parkReason == .onHold)
        #expect(throws: OperationRefusal.nothingToAbandon) { try machine.send(.abandon) }
        #expect(try machine.send(.release).contains(.purge(Sample.database)))
    }

    @Test func `there is nothing to abandon where no identity is waited for`() throws {
        var machine = Machine(identities: [], grace: Sample.day)
        try machine.send(.due)
        #expect(throws: OperationRefusal.nothingToAbandon) { try machine.send(.abandon) }
    }

    @Test func `a revocation without identities completes`() throws {
        var machine = Machine(.revokeTokens, identities: [])
        machine.environment.withoutIdentities = .park
        try machine.send(.due)
        #expect(machine.request.phase == .completed)
    }

    @Test func `an identity that never had a token has nothing to revoke`() throws {
        var machine = Machine(identities: [Sample.snapshot([])])
        try machine.send(.due)
        #expect(machine.verdict == .nothingToRevoke)
        #expect(machine.request.phase == .open(.purging))
    }

    @Test func `an identity that has lost its tokens may still be linked`() throws {
        let bare = Sample.snapshot([], hadCredentials: true)
        var machine = Machine(identities: [bare])
        try machine.send(.due)
        #expect(machine.verdict == nil)
        #expect(machine.request.phase.parkReason == .needsReauthentication)
    }

    @Test func `a first token takes the verdict of an identity without any back`() throws {
        let other = IdentityID(TimeOrderedID(high: 1, low: 2))
        let code = Sample.credential(.codePending, id: Sample.secondToken, kind: .authorizationCode)
        var machine = Machine(identities: [
            Sample.snapshot([]), Sample.snapshot([code], identity: other),
        ])
        try machine.send(.due)
        #expect(machine.verdict == .nothingToRevoke)
        #expect(try machine.learn([Sample.credential()]) == [.check])
        #expect(machine.verdict == nil)
    }

    @Test(
        "where no service can revoke the user has to",
        arguments: [[], [Sample.credential()], [spent]] as [[CredentialWork]]
    )
    func manual(_ credentials: [CredentialWork]) throws {
        var machine = Machine(
            identities: [Sample.snapshot(credentials)],
            in: Sample.environment(Sample.traits(hasNoRevocationAPI: true))
        )
        let verdict = Announcement.verdict(Sample.apple, .manual, calls: 0)
        #expect(try machine.send(.due).contains(.announce(verdict)))
        #expect(machine.verdict == .manual)
        #expect(machine.request.revocations[0].attempts == 0)
        #expect(machine.request.phase == .open(.purging))
    }
}
