import Lifecycle
import Testing

@testable import Engine

@Suite("Keeping tokens alive: the lowest lane")
struct RenewalTests {
    private static func driver(concurrency: Int = 8) -> CoreDriver {
        let plain = Sample.configuration(concurrency: concurrency)
        let traits = ProviderTraits(
            canCheckRefreshToken: false,
            refreshInterval: .zero,
            livenessLifetime: .zero,
            revokesWholeGrant: true,
            rotatesRefreshTokens: true,
            tokenClock: TokenClock(.seconds(100 * 86_400)),
            userActionURL: "",
            userActionText: ""
        )
        let policy = ProviderPolicy(
            traits: traits,
            onUnrevocable: .proceed,
            revocationDeadline: Sample.day * 7,
            keepAlive: KeepAlivePolicy(
                traits: traits,
                isWanted: true,
                warnBefore: Sample.day * 14
            )
        )
        let configuration = EngineConfiguration(
            providers: [Sample.apple: policy, Sample.other: policy],
            lanes: plain.lanes,
            stores: plain.stores,
            withoutIdentities: plain.withoutIdentities,
            purgesPerHourMax: plain.purgesPerHourMax
        )
        return CoreDriver(configuration: configuration)
    }

    private static func due(_ number: Int, failures: Int = 0) -> DueRenewal {
        DueRenewal(
            credential: Sample.credential(number),
            identity: Sample.identity(number),
            provider: Sample.apple,
            failures: failures
        )
    }

    /// A core that has tended and found these tokens due.
    private static func found(_ driver: CoreDriver, _ numbers: Int...) -> [EngineAction] {
        driver.send()
        driver.commit(knowing: [.renewalsTended(expiring: [:], goesOn: false)])
        driver.settle()
        return driver.send(
            .renewalsFound(DueRenewals(renewals: numbers.map { due($0) }, nextDueAt: nil))
        )
    }

    private static func begun(_ driver: CoreDriver, _ number: Int) -> [EngineAction] {
        driver.commit(
            knowing: [.renewalBegun(Sample.credential(number), Sample.sealed(number))]
        )
    }

    @Test("a renewal is called after its intent is durable, and with the token read then")
    func intentFirst() {
        let driver = Self.driver()
        let first = Self.found(driver, 1)
        #expect(first.renewals.isEmpty)
        #expect(first.commits.flatMap(\.self).begunRenewals == [Sample.credential(1)])
        #expect(Self.begun(driver, 1).renewals == [Sample.credential(1)])
    }

    @Test("one at a time for a provider, whatever is due")
    func oneAtATime() {
        let driver = Self.driver()
        _ = Self.found(driver, 1, 2, 3)
        #expect(Self.begun(driver, 1).renewals == [Sample.credential(1)])
        #expect(driver.openCommit == nil)
        let next = driver.send(.renewed(Sample.credential(1), .live))
        #expect(next.commits.flatMap(\.self).begunRenewals == [Sample.credential(2)])
    }

    @Test("none begins while a call of a request waits, and a call never waits for one")
    func lowest() {
        let driver = Self.driver(concurrency: 1)
        driver.send()
        driver.commit(knowing: [.renewalsTended(expiring: [:], goesOn: false)])
        driver.settle()
        // Two requests, one slot: the second waits.
        driver.send(.admitted([Sample.loaded(1), Sample.loaded(2)]))
        driver.settle()
        let found = driver.send(
            .renewalsFound(DueRenewals(renewals: [Self.due(7)], nextDueAt: nil))
        )
        #expect(found.commits.flatMap(\.self).begunRenewals.isEmpty)
        // The first is answered, the second takes the slot, nothing waits: it may begin beside it.
        let actions = driver.answerRevoke(1, .success)
        #expect(actions.calls.map(\.request) == [Sample.request(2)])
        #expect(actions.commits.flatMap(\.self).begunRenewals == [Sample.credential(7)])
        // With the renewal under way a new request is called all the same.
        let busy = driver.answerRevoke(2, .success)
        _ = busy
        driver.send(.admitted([Sample.loaded(3)]))
        #expect(driver.settle().calls.map(\.request) == [Sample.request(3)])
    }

    @Test("an identity has one refresh at a time: a request's call waits for the renewal's end")
    func ownership() {
        let driver = Self.driver()
        _ = Self.found(driver, 1)
        _ = Self.begun(driver, 1)
        driver.send(.admitted([Sample.loaded(1)]))
        #expect(driver.settle().calls.isEmpty)
        let answered = driver.send(.renewed(Sample.credential(1), .live))
        #expect(answered.calls.isEmpty)
        let ended = driver.commit(knowing: [.renewalEnded(Sample.credential(1), nil)])
        #expect((ended + driver.settle()).calls.map(\.request) == [Sample.request(1)])
    }

    @Test("a token that a request is at is left alone")
    func requestFirst() {
        let driver = Self.driver()
        driver.send()
        driver.commit(knowing: [.renewalsTended(expiring: [:], goesOn: false)])
        driver.settle()
        driver.send(.admitted([Sample.loaded(1)]))
        #expect(driver.settle().calls.map(\.request) == [Sample.request(1)])
        let found = driver.send(
            .renewalsFound(DueRenewals(renewals: [Self.due(1)], nextDueAt: nil))
        )
        #expect(found.commits.flatMap(\.self).begunRenewals.isEmpty)
    }

    @Test(
        "an answer that nobody heard leaves the token in doubt, one that never was leaves none",
        arguments: [
            (EffectFailure.lost, true), (.unusable, true), (.unreachable, false),
            (.throttled(retryAfter: nil), false), (.misconfigured, false),
        ]
    )
    func doubt(failure: EffectFailure, isInDoubt: Bool) throws {
        let driver = Self.driver()
        _ = Self.found(driver, 1)
        _ = Self.begun(driver, 1)
        let actions = driver.send(.renewed(Sample.credential(1), .failure(failure)))
        let ended = try #require(actions.commits.flatMap(\.self).endedRenewals.first)
        guard case .failed(let retryAt, isInDoubt) = ended.outcome else {
            Issue.record("\(ended.outcome)")
            return
        }
        #expect(retryAt.since(driver.now) >= .seconds(3600))
    }

    @Test("a provider that refuses us is paused, and nothing more is renewed there")
    func paused() {
        let driver = Self.driver()
        _ = Self.found(driver, 1, 2)
        _ = Self.begun(driver, 1)
        let actions = driver.send(.renewed(Sample.credential(1), .failure(.misconfigured)))
        #expect(actions.commits.flatMap(\.self).begunRenewals.isEmpty)
        #expect(driver.core.laneHealth(Sample.apple)?.isPaused == true)
    }

    @Test("a state that may be an old copy refreshes nothing")
    func restrained() {
        let driver = Self.driver()
        driver.core.restrain()
        let found = Self.found(driver, 1)
        #expect(found.commits.flatMap(\.self).begunRenewals.isEmpty)
        let lifted = driver.send(.restraintLifted)
        #expect(lifted.commits.flatMap(\.self).begunRenewals == [Sample.credential(1)])
    }

    @Test("what will die unused is reported, by provider")
    func warning() {
        let driver = Self.driver()
        driver.send()
        let actions = driver.commit(
            knowing: [.renewalsTended(expiring: [Sample.other: 3], goesOn: true)]
        )
        #expect(actions.reports == [.tokensExpiring(Sample.other, count: 3)])
        driver.settle()
        // There is another page: soon, and not at once.
        #expect(driver.core.wakeTime(after: driver.now) == driver.now + Limits.renewalSearchPause)
    }

    @Test("an idle core wakes once a day for it, and without any clock never")
    func idle() {
        let driver = Self.driver()
        driver.send()
        driver.commit(knowing: [.renewalsTended(expiring: [:], goesOn: false)])
        driver.settle()
        driver.send(.renewalsFound(DueRenewals(renewals: [], nextDueAt: nil)))
        #expect(driver.core.wakeTime(after: driver.now) == driver.now + Limits.renewalTendPeriod)
        let without = CoreDriver.idle()
        #expect(without.core.wakeTime(after: without.now) == nil)
    }
}

extension [EngineAction] {
    fileprivate var renewals: [CredentialID] {
        compactMap { if case .renew(let sealed) = $0 { sealed.id } else { nil } }
    }
}

extension [StateChange] {
    fileprivate var begunRenewals: [CredentialID] {
        compactMap { if case .beginRenewal(let id, _, _) = $0 { id } else { nil } }
    }

    fileprivate var endedRenewals: [EndedRenewal] {
        compactMap { if case .endRenewal(let ended, _) = $0 { ended } else { nil } }
    }
}
