import Lifecycle
import Testing

@testable import Engine

/// What a provider that serves nobody, or one user's refused token, does to the others.
struct OutageTests {
    private static let forbidden = EffectFailure.refusesAll(Refusal(status: 403))

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
        #expect(lane.refusedClients.keys.sorted() == ["com.example.bad"])
        let later = Sample.start + .seconds(3600)
        _ = lane.finished(.begin(99, &lane), failure: nil, at: later)
        #expect(lane.reportOutage(at: later) == nil)
        #expect(lane.refusedClients.isEmpty)
    }

    @Test func `a client that is not configured is shown until the configuration changes`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        let failure = EffectFailure.refusesAll(.notConfigured("com.example.old"))
        #expect(failure.reason == "client_refused: 'com.example.old': not_configured")
        for number in 1...20 {
            #expect(lane.finished(.begin(number, &lane), failure: failure, at: Sample.start) == nil)
        }
        #expect(lane.refusedClients.values.map(\.unconfiguredClient) == ["com.example.old"])
        #expect(lane.isTrusted && lane.reportOutage(at: Sample.start)?.reason == failure.reason)
        lane.forgetUnconfiguredClients()
        #expect(lane.refusedClients.isEmpty)
    }

    @Test func `a client that is not configured says nothing about the provider`() throws {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 4))
        for number in 1...Limits.breakerFailures {
            _ = lane.finished(.begin(number, &lane), failure: .lost, at: Sample.start)
        }
        let (opensAt, outage) = (try #require(lane.opensAt), lane.outage)
        let caller = ProviderLane.Caller.begin(99, &lane, at: opensAt)
        let failure = EffectFailure.refusesAll(.notConfigured("com.example.old"))
        #expect(lane.finished(caller, failure: failure, at: opensAt) == nil)
        #expect(!lane.isTrusted && lane.outage == outage)
        #expect(lane.codesUnderWay == 0 && lane.mayPass(at: opensAt))
    }

    @Test func `a check that finds nothing closes the breaker, and what failed is forgotten`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        _ = driver.answerRevoke(calls[0], .failure(Self.forbidden))
        #expect(driver.core.laneHealth(Sample.apple)?.lastFailure == "refuses_all: 403")
        #expect(driver.core.laneHealth(Sample.apple)?.breaker != .closed)
        let closed = driver.send(.works(Sample.apple))
        #expect(closed.reports == [.outageEnded(Sample.apple)])
        #expect(driver.core.laneHealth(Sample.apple)?.breaker == .closed)
        #expect(driver.core.laneHealth(Sample.apple)?.lastFailure == nil)
        #expect(driver.core.laneHealth(Sample.apple)?.outage == nil)
        #expect(driver.send(.works(Sample.apple)).reports.isEmpty)
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
