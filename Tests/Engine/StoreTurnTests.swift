import Engine
import Lifecycle
import Testing

/// Runs of rechecks and replays in the lanes of stores.
struct StoreTurnTests {
    private static let user = [Sample.request(9)]

    private static func turn(_ number: UInt64, _ gate: PurgeGate = PurgeGate()) -> EngineInput {
        .takeTurn(Sample.database, user, gate, Ticket(number: number))
    }

    @Test func `a run waits for the call under way, and requests come between two of its turns`() {
        let driver = CoreDriver.idle()
        for number in [1, 2] {
            driver.send(.admitted([Sample.loaded(number)]))
            driver.settle()
        }
        #expect(driver.answerRevoke(1, .success).purges == [[Sample.request(1)]])
        #expect(driver.answerRevoke(2, .success).purges.isEmpty)
        #expect(driver.send(Self.turn(1), Self.turn(2)).replies.isEmpty)
        let first = driver.send(driver.purged([1]))
        #expect(first.replies == [.done])
        #expect(first.purges.isEmpty)
        let between = driver.send(.endTurn(Sample.database))
        #expect(between.replies.isEmpty)
        #expect(!between.isEmpty)
        driver.settle()
    }

    @Test func `two runs take turns at a store that nothing else uses`() {
        let driver = CoreDriver.idle()
        #expect(driver.send(Self.turn(1), Self.turn(2)).replies == [.done])
        #expect(driver.send(.endTurn(Sample.database)).replies == [.done])
        #expect(driver.send(.endTurn(Sample.database)).replies.isEmpty)
    }

    @Test func `a pause of the store is the run's own business`() {
        let driver = CoreDriver.idle()
        driver.send(.pauseTarget(Sample.database, reason: "operator"))
        driver.settle()
        #expect(driver.send(Self.turn(1)).replies == [.done])
    }

    @Test func `a hold that is placed during a turn closes its gate`() {
        let driver = CoreDriver.idle()
        let gate = PurgeGate()
        driver.send(Self.turn(1, gate))
        let hold = TargetHold(name: "h", target: Sample.database, since: Sample.start, uid: 1)
        for case .stop(let stopped, let requests) in driver.send(
            .placeHold(hold, Ticket(number: 2))
        ) {
            stopped.close(for: requests)
        }
        #expect(gate.isClosed(for: Self.user[0]))
        driver.settle()
        driver.send(.endTurn(Sample.database))
        let later = PurgeGate()
        driver.send(Self.turn(3, later))
        #expect(!later.isClosed(for: Self.user[0]))
    }
}
