import Engine
import Lifecycle
import Testing

/// Holds on targets as the core keeps them.
struct TargetHoldCoreTests {
    private static func hold(_ name: String = "case", isOfRows: Bool = false) -> TargetHold {
        let filter = RowFilter(
            table: "orders",
            conditions: [RowFilter.Condition(column: "status", values: ["disputed"])]
        )
        return TargetHold(
            name: name,
            target: Sample.database,
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
