import Lifecycle
import Testing

@testable import Engine

/// The five-minute lane in the core.
struct CodeLaneTests {
    @Test func `a code is committed as being exchanged before it is sent`() {
        let driver = CoreDriver.idle()
        let arrived = driver.send(.codes([Sample.code(1)]))
        #expect(arrived.exchanges.isEmpty)
        #expect(driver.openCommit?.exchanges.map(\.phase) == [.exchanging])
        #expect(driver.commit().exchanges == [Sample.credential(1)])
    }

    @Test func `an exchange stores its tokens and tells the open request`() throws {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.settle()
        let answered = driver.send(
            .exchanged(Sample.credential(1), ExchangeResult(event: .exchanged))
        )
        guard case .storeTokens = try #require(answered.commits.first?.first) else {
            Issue.record("no tokens stored")
            return
        }
        let update = IdentityUpdate(
            snapshot: Sample.snapshot(1),
            credentials: [:],
            openRequests: [Sample.request(1)]
        )
        #expect(driver.commit([update]).loads.map(\.ids) == [[Sample.request(1)]])
        #expect(driver.core.workCount == 0)
    }

    @Test(
        "a code that is lost is settled and reported",
        arguments: [
            (CodeExchange.Event.refused, CodeExchange.Phase.refused),
            (.failure(.lost), .unknown), (.failure(.unusable), .unknown),
        ]
    )
    func lost(_ event: CodeExchange.Event, _ phase: CodeExchange.Phase) {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.settle()
        driver.send(.exchanged(Sample.credential(1), ExchangeResult(event: event)))
        #expect(driver.openCommit?.exchanges.map(\.phase) == [phase])
        #expect(driver.commit().reports == [.codeLost(Sample.apple, phase)])
    }

    @Test func `a code that is refused is reported with what the vendor answered`() {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.settle()
        var result = ExchangeResult(event: .refused)
        result.answer = Refusal(status: 400, error: "odd")
        driver.send(.exchanged(Sample.credential(1), result))
        #expect(driver.openCommit?.exchanges.map(\.answer) == [result.answer])
        #expect(driver.commit().reports == [.codeLost(Sample.apple, .refused, result.answer)])
    }

    @Test func `a code that did not reach the provider is tried again within seconds`() throws {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.settle()
        driver.send(
            .exchanged(Sample.credential(1), ExchangeResult(event: .failure(.unreachable)))
        )
        driver.settle()
        let wake = try #require(driver.core.wakeTime(after: driver.now))
        #expect(wake > driver.now)
        #expect(wake <= driver.now + Limits.codeBackoffMax)
        driver.now = wake
        driver.send(.timer)
        #expect(driver.settle().exchanges == [Sample.credential(1)])
    }

    @Test func `a code too old to be sent expires and gives its slot back`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 1))
        let old = Sample.start - Limits.codeAgeMax - .seconds(1)
        let codes = (1...Limits.codeSlots).map { Sample.code($0, createdAt: old) }
        driver.send(.codes(codes + [Sample.code(99)]))
        let actions = driver.settle()
        #expect(actions.exchanges == [Sample.credential(99)])
        #expect(actions.reports.count == Limits.codeSlots)
    }

    @Test func `a code whose exchange a crash cut off is not sent again`() {
        let driver = CoreDriver(exchanges: [Sample.code(1, phase: .exchanging), Sample.code(2)])
        driver.send()
        let actions = driver.settle()
        #expect(actions.exchanges == [Sample.credential(2)])
        #expect(actions.reports == [.codeLost(Sample.apple, .unknown)])
    }

    @Test func `a code waits while its provider is paused, and goes on when it is not`() {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.settle()
        driver.send(
            .exchanged(Sample.credential(1), ExchangeResult(event: .failure(.misconfigured)))
        )
        let paused = driver.settle()
        #expect(paused.exchanges.isEmpty)
        #expect(paused.reports == [.providerPaused(Sample.apple, reason: "misconfigured")])
        driver.send(.resume(Sample.apple))
        #expect(driver.settle().exchanges == [Sample.credential(1)])
    }

    @Test func `a request that waits for a code at a provider that is paused says so`() throws {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1)]))
        driver.settle()
        driver.send(
            .exchanged(Sample.credential(1), ExchangeResult(event: .failure(.misconfigured)))
        )
        driver.commit()
        let told = try #require(driver.openCommit).contains {
            if case .tell(Sample.identity(1), _, _) = $0 { true } else { false }
        }
        #expect(told)
        let waiting = Sample.loaded(1)
        let update = IdentityUpdate(
            snapshot: Sample.snapshot(1),
            credentials: waiting.credentials,
            openRequests: [waiting.request.id]
        )
        let load = try #require(driver.commit([update]).loads.first)
        driver.send(.loaded(load.read, [waiting], asked: load.ids))
        #expect(driver.openCommit?.saves.map(\.phase.parkReason) == [.providerPaused])
    }

    @Test func `a code that comes twice is sent once`() {
        let driver = CoreDriver.idle()
        driver.send(.codes([Sample.code(1), Sample.code(1)]))
        driver.send(.codes([Sample.code(1)]))
        #expect(driver.settle().exchanges == [Sample.credential(1)])
    }

    @Test func `codes go ahead of calls`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 1))
        driver.send(.admitted((1...5).map { Sample.loaded($0) }))
        #expect(driver.commit().calls.count == 1)
        driver.send(.codes([Sample.code(50)]))
        let actions = driver.settle()
        #expect(actions.exchanges == [Sample.credential(50)])
        #expect(actions.calls.isEmpty)
    }

    @Test func `a sealed vault keeps codes`() {
        let driver = CoreDriver(isVaultOpen: false)
        driver.send(.codes([Sample.code(1)]))
        #expect(driver.settle().exchanges.isEmpty)
        #expect(driver.core.workCount == 1)
    }
}
