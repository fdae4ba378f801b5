import Lifecycle
import Testing

@testable import Engine

/// What one provider's wrong URL, or one user's refused token, does to the others.
struct WrongEndpointTests {
    @Test func `one answer of an endpoint that is none opens the breaker, with its answer`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        let answer = EffectFailure.wrongEndpoint(Refusal(status: 404))
        let actions = driver.answerRevoke(calls[0], .failure(answer))
        #expect(
            actions.reports == [
                .breakerOpened(
                    Sample.apple,
                    pause: Limits.breakerPauseMin,
                    reason: "wrong_endpoint: 404"
                )
            ]
        )
    }

    @Test func `fifty users whose tokens are refused close the provider for nobody`() {
        var lane = ProviderLane(limits: LaneLimits(concurrency: 100))
        for number in 1...50 {
            let caller = ProviderLane.Caller.code(CredentialID(rowID: Int64(number)))
            lane.enqueue(code: CredentialID(rowID: Int64(number)))
            _ = lane.nextCode(at: Sample.start)
            let refused = EffectFailure.refused(Refusal(status: 422))
            #expect(lane.finished(caller, failure: refused, at: Sample.start) == nil)
        }
        #expect(lane.isTrusted)
    }

    @Test func `a check that finds nothing closes the breaker, and what failed is forgotten`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 4))
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        let calls = driver.commit().calls.map { Int($0.request.value.low) }
        let answer = EffectFailure.wrongEndpoint(Refusal(status: 404))
        _ = driver.answerRevoke(calls[0], .failure(answer))
        #expect(driver.core.laneHealth(Sample.apple)?.lastFailure == "wrong_endpoint")
        #expect(driver.core.laneHealth(Sample.apple)?.breaker != .closed)
        let closed = driver.send(.works(Sample.apple))
        #expect(closed.reports == [.breakerClosed(Sample.apple)])
        #expect(driver.core.laneHealth(Sample.apple)?.breaker == .closed)
        #expect(driver.core.laneHealth(Sample.apple)?.lastFailure == nil)
        #expect(driver.send(.works(Sample.apple)).reports.isEmpty)
    }
}
