import Lifecycle
import Testing

@testable import Engine

/// Runs of rechecks and replays in the lanes of stores.
struct StoreTurnTests {
    private static let user = [Sample.request(9)]

    private static func turn(
        _ number: UInt64,
        _ gate: PurgeGate = PurgeGate(),
        holds: [StoreHold] = [],
        userHoldsVersion: Int = 0
    ) -> EngineInput {
        .takeTurn(
            Sample.database,
            user,
            gate,
            KnownHolds(rows: holds, userHoldsVersion: userHoldsVersion),
            Ticket(number: number)
        )
    }

    private static func hold(_ name: String, rows: RowFilter?) -> StoreHold {
        StoreHold(name: name, store: Sample.database, rows: rows, since: Sample.start, uid: 1)
    }

    @Test(
        "a hold that a waiting turn does not know closes its gate",
        arguments: [nil, RowFilter(table: "posts", conditions: [])]
    )
    func queued(rows: RowFilter?) {
        let driver = CoreDriver.idle()
        let hold = Self.hold("h", rows: rows)
        let (old, new) = (PurgeGate(), PurgeGate())
        driver.send(Self.turn(1), Self.turn(2, old), Self.turn(3, new, holds: [hold]))
        driver.send(.placeHold(hold, Ticket(number: 9)))
        driver.settle()
        for gate in [old, new] {
            for case .stop(let stopped, let requests) in driver.send(.endTurn(Sample.database)) {
                stopped.close(for: requests)
            }
            // A run knows of holds on rows; one on the whole store lets nobody purge.
            #expect(gate.isClosed(for: Self.user[0]) == (gate === old || rows == nil))
        }
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
        driver.send(.pauseStore(Sample.database, reason: "operator"))
        driver.settle()
        #expect(driver.send(Self.turn(1)).replies == [.done])
    }

    @Test func `a hold that is placed during a turn closes its gate`() {
        let driver = CoreDriver.idle()
        let gate = PurgeGate()
        driver.send(Self.turn(1, gate))
        let hold = StoreHold(name: "h", store: Sample.database, since: Sample.start, uid: 1)
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

    @Test func `a hold on a user closes the gates of runs that read the holds before`() {
        let driver = CoreDriver.idle()
        let (first, waiting, later) = (PurgeGate(), PurgeGate(), PurgeGate())
        driver.send(
            Self.turn(1, first),
            Self.turn(2, waiting),
            Self.turn(3, later, userHoldsVersion: 1)
        )
        Self.close(driver.send(.userHeld(Ticket(number: 9))))
        #expect(first.isClosed(for: Self.user[0]))
        Self.close(driver.send(.endTurn(Sample.database)))
        #expect(waiting.isClosed(for: Self.user[0]))
        Self.close(driver.send(.endTurn(Sample.database)))
        #expect(!later.isClosed(for: Self.user[0]))
    }

    @Test func `a hold on a user is answered, and leaves the purges of others alone`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        #expect(driver.answerRevoke(1, .success).purges == [[Sample.request(1)]])
        let actions = driver.send(.userHeld(Ticket(number: 9)))
        #expect(actions.replies == [.done])
        #expect(!actions.contains { if case .stop = $0 { true } else { false } })
    }

    private static func close(_ actions: [EngineAction]) {
        for case .stop(let gate, let requests) in actions { gate.close(for: requests) }
    }
}
