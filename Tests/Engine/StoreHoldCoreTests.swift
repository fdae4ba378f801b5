import Engine
import Lifecycle
import Testing

/// Holds on stores as the core keeps them.
struct StoreHoldCoreTests {
    private static func hold(_ name: String = "case", isOfRows: Bool = false) -> StoreHold {
        let filter = RowFilter(
            table: "orders",
            conditions: [RowFilter.Condition(column: "status", values: ["disputed"])]
        )
        return StoreHold(
            name: name,
            store: Sample.database,
            rows: isOfRows ? filter : nil,
            since: Sample.start,
            uid: 1
        )
    }

    @Test func `a hold is answered when it is durable, and its end wakes who waits for it`() {
        let driver = CoreDriver.idle()
        let placed = driver.send(.placeHold(Self.hold(), Ticket(number: 1)))
        #expect(placed.commits.first?.placed == ["case"])
        #expect(placed.replies.isEmpty)
        #expect(driver.commit().replies == [.done])
        #expect(driver.core.isHeld(Sample.database))
        let lifted = driver.send(.liftHold("case", by: 2, Ticket(number: 2)))
        #expect(lifted.commits.first?.wakes == [.onHold])
        #expect(driver.commit().replies == [.done])
        #expect(driver.core.holds.isEmpty)
    }

    @Test func `the same hold twice is one, and another of its name is refused`() {
        let driver = CoreDriver.idle()
        driver.send(.placeHold(Self.hold(), Ticket(number: 1)))
        driver.settle()
        let again = driver.send(.placeHold(Self.hold(), Ticket(number: 2)))
        #expect(again.replies == [.done] && again.commits.isEmpty)
        let other = driver.send(.placeHold(Self.hold(isOfRows: true), Ticket(number: 3)))
        #expect(other.replies == [.refused(.holdExists)])
        #expect(
            driver.send(.liftHold("other", by: 1, Ticket(number: 4))).replies
                == [.refused(.notOnHold)]
        )
    }

    @Test func `a purge that waits in the queue is taken back by a hold`() {
        let driver = CoreDriver.idle()
        for number in [1, 2] {
            driver.send(.admitted([Sample.loaded(number)]))
            driver.settle()
        }
        #expect(driver.answerRevoke(1, .success).purges == [[Sample.request(1)]])
        #expect(driver.answerRevoke(2, .success).purges.isEmpty)
        driver.send(.placeHold(Self.hold(), Ticket(number: 1)))
        driver.settle()
        var after = driver.send(driver.purged([1])) + driver.settle()
        after += driver.send(driver.verified([1])) + driver.settle()
        #expect(after.purges.isEmpty)
        #expect(after.announcements.contains(.parked(.onHold)))
    }

    /// Two requests whose purge is one call, in which nothing has begun.
    private static func driver() throws -> (CoreDriver, [PurgeOrder]) {
        let driver = CoreDriver.idle()
        for number in [1, 2, 3] {
            driver.send(.admitted([Sample.loaded(number)]))
            driver.settle()
        }
        for number in [3, 1, 2] { driver.answerRevoke(number, .success) }
        driver.send(driver.purged([3]))
        let actions = driver.send(driver.verified([3])) + driver.settle()
        return (driver, try #require(actions.purgeOrders.last))
    }

    @Test func `a hold stops its request alone in a purge that runs, before it is answered`() throws
    {
        let (driver, orders) = try Self.driver()
        #expect(orders.map(\.request) == [Sample.request(1), Sample.request(2)])
        let held = driver.send(.operate(Sample.request(2), .hold, Ticket(number: 1)))
        held.closeGates()
        #expect(held.replies.isEmpty)
        #expect(orders.map(\.isStopped) == [false, true])
        #expect(driver.settle().replies == [.done])
        let answers = [
            (Sample.request(1), RequestEvent.purged(Sample.database, .done(PurgeCounts()))),
            (Sample.request(2), .purged(Sample.database, .stopped)),
        ]
        let after = driver.send(.storeAnswered(Sample.database, answers)) + driver.settle()
        #expect(after.verifications == [[Sample.request(1)]])
        #expect(after.purges.isEmpty && after.reports.isEmpty)
        #expect(driver.core.workCount == 1, "what is on hold waits in the state")
    }

    @Test(arguments: [false, true])
    func `a hold on a store, or on rows of it, stops all that has not begun`(
        isOfRows: Bool
    ) throws {
        let (driver, orders) = try Self.driver()
        let hold = Self.hold(isOfRows: isOfRows)
        driver.send(.placeHold(hold, Ticket(number: 1))).closeGates()
        #expect(orders.map(\.isStopped) == [true, true])
        driver.settle()
        let again = driver.send(driver.purged([1, 2], .stopped)) + driver.settle()
        // With the hold in their hands they begin at once, and no earlier stop is theirs.
        #expect(again.purgeHolds == (isOfRows ? [["case"], ["case"]] : []))
        #expect(again.purgeOrders.joined().allSatisfy { !$0.isStopped })
        #expect(again.announcements.count { $0 == .parked(.onHold) } == (isOfRows ? 0 : 2))
    }

    @Test func `a reload ends the purge that runs, and the orders come back under the new rules`()
        throws
    {
        let (driver, orders) = try Self.driver()
        driver.send(.reconfigured(Sample.configuration())).closeGates()
        #expect(orders.map(\.isStopped) == [true, true])
        #expect(orders.map(\.isOutdated) == [true, true])
        let again = driver.send(driver.purged([1, 2], .stopped)) + driver.settle()
        #expect(again.purgeOrders.joined().map(\.isOutdated) == [false, false])
    }

    @Test func `holds on rows go with every order, also after a restart`() {
        var pauses = StoredPauses()
        pauses.holds = [Self.hold("rows", isOfRows: true)]
        let driver = CoreDriver(pauses: pauses)
        driver.send()
        driver.settle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        let actions = driver.answerRevoke(1, .success)
        #expect(actions.purgeHolds == [["rows"]])
    }
}

extension [EngineAction] {
    var purgeOrders: [[PurgeOrder]] {
        compactMap { if case .purge(_, let orders) = $0 { orders } else { nil } }
    }

    /// Does what the shell does.
    fileprivate func closeGates() {
        for case .stop(let gate, let requests) in self { gate.close(for: requests) }
        for case .retire(let gate) in self { gate.retire() }
    }

    /// The names of the holds on rows of each order.
    fileprivate var purgeHolds: [[String]] {
        flatMap { action -> [[String]] in
            guard case .purge(_, let orders) = action else { return [] }
            return orders.map { $0.holds.map(\.name) }
        }
    }
}

extension [StateChange] {
    fileprivate var placed: [String] {
        compactMap { if case .placeHold(let hold) = $0 { hold.name } else { nil } }
    }
}
