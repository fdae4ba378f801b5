import Lifecycle
import Testing

@testable import Engine

/// What a provider that serves nobody, or one user's refused token, does to the others.
struct OutageTests {
    private static let forbidden = EffectFailure.refusesAll(Refusal(status: 403))
    private static let removed = EffectFailure.notConfigured(client: "com.example.old")

    @Test(
        "one answer that everybody gets opens the breaker, with its answer",
        arguments: [Refusal(status: 403), Refusal(status: 404, error: "not_found")]
    )
    func atOnce(_ answer: Refusal) {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        let actions = driver.answerRevoke(calls[0], .failure(.refusesAll(answer)))
        let reason = "refuses_all: \(answer.text)"
        #expect(actions.reports == [.outageBegan(Sample.apple, reason: reason)])
    }

    @Test(
        "one user's token at a server that knows no code for such tokens holds up nobody",
        arguments: [400, 401, 409, 422]
    )
    func mute(_ status: Int) {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        _ = driver.answerRevoke(calls[0], .failure(.refusesAll(Refusal(status: status))))
        #expect(driver.core.laneHealth(Sample.apple)?.breaker == .closed)
    }

    @Test func `fifty users whose tokens are refused close the provider for nobody`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 100))
        let refused = EffectFailure.refused(Refusal(status: 422))
        for number in 1...50 {
            #expect(lane.finished(.begin(number, &lane), failure: refused, at: Sample.start) == nil)
        }
        #expect(lane.isTrusted)
        #expect(lane.outage == nil)
    }

    @Test func `an error code that every unknown token gets opens the breaker for nobody`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 100))
        let stale = EffectFailure.refusesAll(Refusal(status: 400, error: "invalid_request"))
        for _ in 1...50 {
            #expect(lane.finished(.begin(1, &lane), failure: stale, at: Sample.start) == nil)
        }
        #expect(lane.isTrusted)
    }

    @Test(
        "what fails for two minutes is an outage, reported once, until somebody is served",
        arguments: [
            EffectFailure.throttled(retryAfter: nil), .unusable, .lost, .unreachable,
            .refusesAll(Refusal(status: 400, error: "invalid_request")),
        ]
    )
    func slowly(_ failure: EffectFailure) {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        var reports: [LaneOutage] = []
        for second in stride(from: 0, through: 600, by: 30) {
            let now = Sample.start + .seconds(second)
            _ = lane.finished(.begin(1, &lane), failure: failure, at: now)
            #expect(lane.outage?.isKnown(at: now) == (now >= Sample.start + Limits.outageDoubt))
            reports += [lane.reportOutage(at: now)].compactMap(\.self)
        }
        #expect(reports.map(\.since) == [Sample.start])
        #expect(reports.map(\.reason) == [failure.reason])
        #expect(lane.isTrusted)
        let later = Sample.start + .seconds(700)
        let refused = EffectFailure.refused(Refusal(status: 422))
        _ = lane.finished(.begin(2, &lane), failure: refused, at: later)
        #expect(lane.outage == nil)
    }

    @Test func `a client that is refused is shown by its name, and closes the lane for nobody`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let answer = Refusal(status: 401, error: "invalid_client", client: "com.example.bad")
        let failure = EffectFailure.refusesAll(answer)
        var reports: [LaneOutage] = []
        for number in 1...20 {
            let now = Sample.start + .seconds(number * 60)
            #expect(lane.finished(.begin(number, &lane), failure: failure, at: now) == nil)
            reports += [lane.reportOutage(at: now)].compactMap(\.self)
        }
        #expect(reports.map(\.reason) == [failure.reason])
        #expect(failure.reason == "client_refused: 'com.example.bad': 401 invalid_client")
        #expect(lane.isTrusted && lane.outage == nil)
        #expect(lane.refusedClients.keys.map(\.name) == ["com.example.bad"])
        let later = Sample.start + .seconds(3600)
        _ = lane.finished(.begin(99, &lane), failure: nil, at: later)
        #expect(lane.reportOutage(at: later) == nil)
        let endsAt = Sample.start + .seconds(20 * 60) + Limits.outageBackoffMax * 2
        #expect(lane.clientsEndAt == endsAt)
        let ended = lane.endClients { $1.endsAt <= endsAt }
        #expect(ended == ["com.example.bad"])
        #expect(lane.refusedClients.isEmpty && lane.clientsEndAt == nil)
    }

    @Test func `a client that is not configured is shown, whatever a check finds`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let failure = Self.removed
        #expect(failure.reason == "client_not_configured: 'com.example.old'")
        for number in 1...20 {
            #expect(lane.finished(.begin(number, &lane), failure: failure, at: Sample.start) == nil)
        }
        #expect(lane.isTrusted && lane.unconfiguredClients == ["com.example.old"])
        #expect(lane.reportOutage(at: Sample.start)?.reason == failure.reason)
        let wasOpen = lane.trust()
        #expect(!wasOpen && lane.unconfiguredClients == ["com.example.old"])
    }

    @Test func `a client that is not configured has one beginning and one end`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        let (same, old) = (Sample.configuration(concurrency: 4), "com.example.old")
        var reports: [EngineReport] = []
        for number in 1...3 {
            driver.send(.admitted([Sample.loaded(number)]))
            #expect(driver.settle().calls.count == 1)
            reports += driver.answerRevoke(number, .failure(Self.removed)).reports
            reports += driver.send(.checked(Sample.apple, isWell: true, unserved: [old])).reports
            reports += (driver.send(.reconfigured(same)) + driver.settle()).reports
        }
        #expect(reports == [.outageBegan(Sample.apple, reason: Self.removed.reason)])
        #expect(driver.core.laneHealth(Sample.apple)?.unconfiguredClients == ["com.example.old"])
        // That the provider refuses the same client is another cause.
        let answer = Refusal(status: 401, error: "invalid_client", client: "com.example.old")
        let refused = EffectFailure.refusesAll(answer)
        driver.send(.admitted([Sample.loaded(4)]))
        driver.settle()
        let begun = driver.answerRevoke(4, .failure(refused)).reports
        #expect(begun == [.outageBegan(Sample.apple, reason: refused.reason)])
        let reloaded = EngineInput.checked(Sample.apple, isWell: false, unserved: [])
        let ended = driver.send(reloaded).reports
        #expect(ended == [.outageEnded(Sample.apple, client: old)])
        #expect(driver.core.laneHealth(Sample.apple)?.unconfiguredClients == [])
        #expect(driver.send(reloaded).reports.isEmpty)
        let well = driver.send(.checked(Sample.apple, isWell: true, unserved: [])).reports
        #expect(well == [.outageEnded(Sample.apple, client: old)])
    }

    @Test func `a client without users who are called again has its end`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        driver.answerRevoke(1, .failure(Self.removed))
        let endsAt = Sample.start + Limits.outageBackoffMax * 2
        driver.now = endsAt - .milliseconds(1)
        #expect((driver.send(.timer) + driver.settle()).reports.isEmpty)
        #expect(try #require(driver.core.wakeTime(after: driver.now)) <= endsAt)
        driver.now = endsAt
        let ended = driver.send(.timer).reports
        #expect(ended == [.outageEnded(Sample.apple, client: "com.example.old")])
    }

    @Test func `a call that ends the outage of all and begins that of a client tells both`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        driver.answerRevoke(calls[0], .failure(Self.forbidden))
        let answer = Refusal(status: 401, error: "invalid_client", client: "com.example.bad")
        let refused = EffectFailure.refusesAll(answer)
        #expect(
            driver.answerRevoke(calls[1], .failure(refused)).reports == [
                .outageEnded(Sample.apple), .outageBegan(Sample.apple, reason: refused.reason),
            ]
        )
    }

    @Test func `what users wait for is reported after two minutes, without another call`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        let failure = EffectFailure.throttled(retryAfter: .seconds(3600))
        #expect(driver.answerRevoke(1, .failure(failure)).reports.isEmpty)
        let knownAt = Sample.start + Limits.outageDoubt
        driver.now = knownAt - .milliseconds(1)
        #expect((driver.send(.timer) + driver.settle()).reports.isEmpty)
        #expect(try #require(driver.core.wakeTime(after: driver.now)) <= knownAt)
        driver.now = knownAt
        let begun = driver.send(.timer).reports
        #expect(begun == [.outageBegan(Sample.apple, reason: failure.reason)])
        #expect((driver.send(.timer) + driver.settle()).reports.isEmpty)
    }

    @Test func `an outage has its end when no user is called for again`() throws {
        let driver = CoreDriver.idle()
        let failure = Self.begin(.unreachable, driver)
        let endsAt = Sample.start + Limits.outageBackoffMax * 2
        driver.now = endsAt - .milliseconds(1)
        let begun = (driver.send(.timer) + driver.settle()).reports
        #expect(begun == [.outageBegan(Sample.apple, reason: failure.reason)])
        #expect(try #require(driver.core.wakeTime(after: driver.now)) <= endsAt)
        driver.now = endsAt
        #expect(driver.send(.timer).reports == [.outageEnded(Sample.apple)])
        #expect(driver.core.laneHealth(Sample.apple)?.outage == nil)
    }

    @Test func `no outage is reported of a provider that is paused`() {
        let driver = CoreDriver.idle()
        Self.begin(.throttled(retryAfter: .seconds(3600)), driver)
        driver.send(.pause(Sample.apple, reason: "operator"))
        driver.settle()
        driver.now = Sample.start + Limits.outageDoubt
        #expect((driver.send(.timer) + driver.settle()).reports.isEmpty)
    }

    @Test func `the outage of a provider that a reload removes is over`() {
        let driver = CoreDriver.idle()
        Self.begin(.throttled(retryAfter: .seconds(3600)), driver)
        driver.now = Sample.start + Limits.outageDoubt
        #expect((driver.send(.timer) + driver.settle()).reports.count == 1)
        let removed = EngineConfiguration(
            providers: [:],
            lanes: [:],
            stores: [Sample.database],
            withoutIdentities: .proceed,
            purgesPerHourMax: 1000
        )
        let reports = (driver.send(.reconfigured(removed)) + driver.settle()).reports
        #expect(reports == [.outageEnded(Sample.apple)])
    }

    /// The call of one user meets this.
    @discardableResult
    private static func begin(_ failure: EffectFailure, _ driver: CoreDriver) -> EffectFailure {
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        #expect(driver.answerRevoke(1, .failure(failure)).reports.isEmpty)
        return failure
    }

    @Test func `a renewal that fails is no outage until another call fails, too`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let isBegun = lane.beginRenewal(at: Sample.start)
        #expect(isBegun)
        lane.renewalEnded()
        let caller = ProviderLane.Caller.renewal(Sample.credential(1))
        _ = lane.finished(caller, failure: .throttled(retryAfter: nil), at: Sample.start)
        let later = Sample.start + Limits.outageDoubt
        #expect(lane.outageKnownAt == nil)
        #expect(lane.reportOutage(at: later) == nil)
        _ = lane.finished(.begin(1, &lane, at: later), failure: .unreachable, at: later)
        #expect(lane.outageKnownAt == later)
        #expect(lane.reportOutage(at: later) != nil)
    }

    @Test func `an outage that renewals alone reported has its end when none is made`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let later = Sample.start + Limits.outageDoubt
        for now in [Sample.start, later] {
            let isBegun = lane.beginRenewal(at: now)
            #expect(isBegun && lane.outageEndsAt == nil)
            lane.renewalEnded()
            let caller = ProviderLane.Caller.renewal(Sample.credential(1))
            _ = lane.finished(caller, failure: .throttled(retryAfter: nil), at: now)
        }
        #expect(lane.outageEndsAt == nil)
        #expect(lane.reportOutage(at: later) != nil)
        #expect(lane.outageEndsAt == later + Limits.outageBackoffMax * 2)
        _ = lane.beginRenewal(at: later)
        #expect(lane.outageEndsAt == nil)
    }

    @Test func `an outage lasts as long as any failure asked to wait, also by a new clock`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let hour = Duration.seconds(3600)
        for (number, failure) in [EffectFailure.throttled(retryAfter: hour), .lost].enumerated() {
            _ = lane.finished(.begin(number, &lane), failure: failure, at: Sample.start)
        }
        let endsAt = Sample.start + hour + Limits.outageBackoffMax * 2
        #expect(lane.outageEndsAt == endsAt)
        lane.reclock(by: hour, at: Sample.start + hour)
        #expect(lane.outageEndsAt == endsAt + hour)
    }

    @Test func `a renewal for a client that is not configured keeps nobody waiting`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let isBegun = lane.beginRenewal(at: Sample.start)
        #expect(isBegun)
        lane.renewalEnded()
        let caller = ProviderLane.Caller.renewal(Sample.credential(1))
        #expect(lane.finished(caller, failure: Self.removed, at: Sample.start) == nil)
        #expect(lane.refusedClients.isEmpty)
    }

    @Test func `a client that is not configured says nothing about the provider`() throws {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        for number in 1...Limits.breakerFailures {
            _ = lane.finished(.begin(number, &lane), failure: .lost, at: Sample.start)
        }
        let (opensAt, outage) = (try #require(lane.opensAt), lane.outage)
        let caller = ProviderLane.Caller.begin(99, &lane, at: opensAt)
        #expect(lane.finished(caller, failure: Self.removed, at: opensAt) == nil)
        #expect(!lane.isTrusted && lane.outage == outage)
        #expect(lane.unconfiguredClients == ["com.example.old"] && lane.clientsEndAt == nil)
        #expect(lane.codesUnderWay == 0 && lane.mayPass(at: opensAt))
    }

    @Test func `a check that finds nothing closes the breaker, and what failed is forgotten`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        _ = driver.answerRevoke(calls[0], .failure(Self.forbidden))
        #expect(driver.core.laneHealth(Sample.apple)?.lastFailure == "refuses_all: 403")
        #expect(driver.core.laneHealth(Sample.apple)?.breaker != .closed)
        let well = EngineInput.checked(Sample.apple, isWell: true, unserved: [])
        let closed = driver.send(well)
        #expect(closed.reports == [.outageEnded(Sample.apple)])
        #expect(driver.core.laneHealth(Sample.apple)?.breaker == .closed)
        #expect(driver.core.laneHealth(Sample.apple)?.lastFailure == nil)
        #expect(driver.core.laneHealth(Sample.apple)?.outage == nil)
        #expect(driver.send(well).reports.isEmpty)
    }
}

extension ProviderLane.Caller {
    /// Begins the exchange of a code.
    fileprivate static func begin(
        _ number: Int,
        _ lane: inout ProviderLane,
        at now: WallTime = Sample.start
    ) -> Self {
        let id = CredentialID(rowID: Int64(number))
        lane.enqueue(code: id)
        _ = lane.nextCode(at: now)
        return .code(id)
    }
}
