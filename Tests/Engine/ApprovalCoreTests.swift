import Engine
import Lifecycle
import Testing

@testable import Engine

struct ApprovalCoreTests {
    private static let configuration = Sample.configuration(approval: .required)

    private func planned(_ number: Int, _ rows: Int = 1) -> EngineInput {
        .planned(Sample.request(number), .made(plan(number, rows)))
    }

    private func plan(_ number: Int, _ rows: Int) -> PurgePlan {
        PurgePlan(
            links: Sample.loaded(number).request.links,
            parts: [
                PurgePlan.Part(
                    store: Sample.database,
                    items: [PlanItem(name: "posts", action: .delete, count: rows)]
                )
            ],
            hash: "\(number) \(rows)"
        )
    }

    @Test func `few plans are made at once, and nothing else is done`() {
        let driver = CoreDriver.idle(Self.configuration)
        driver.send(.admitted((1...5).map { Sample.loaded($0) }))
        let first = driver.commit()
        #expect(first.plans == [Sample.request(1), Sample.request(2)])
        #expect(first.calls.isEmpty && first.purges.isEmpty)
        #expect(driver.send(planned(1)).plans == [Sample.request(3)])
        let parked = driver.settle()
        #expect(parked.announcements == [.parked(.awaitingApproval)])
        #expect(parked.calls.isEmpty)
        // What waits for an approval leaves the window.
        #expect(driver.core.window[Sample.request(1)] == nil)
    }

    @Test func `an approval is durable before the first call`() {
        let driver = CoreDriver.idle(Self.configuration)
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        driver.send(planned(1))
        let hash = plan(1, 1).hash
        let approve = driver.send(
            .operate(Sample.request(1), .approve(hash, by: 7), Ticket(number: 1))
        )
        #expect(approve.calls.isEmpty)
        let committed = driver.settle()
        #expect(committed.replies == [.done])
        #expect(committed.calls.count == 1)
    }

    /// A request whose plan is approved and is being made again right before the purge.
    private func comparing() -> CoreDriver {
        let driver = CoreDriver.idle(Self.configuration)
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        driver.send(planned(1))
        let approval = RequestEvent.approve(plan(1, 1).hash, by: 7)
        driver.send(.operate(Sample.request(1), approval, Ticket(number: 1)))
        driver.settle()
        driver.answerRevoke(1, .success)
        return driver
    }

    @Test func `the purge follows an equal plan`() {
        let driver = comparing()
        #expect((driver.send(planned(1)) + driver.settle()).purges == [[Sample.request(1)]])
    }

    @Test(arguments: [true, false])
    func `a reload has compared again what no order has gone out for`(isDecided: Bool) {
        let driver = comparing()
        if isDecided { driver.send(planned(1)) }
        driver.send(.reconfigured(Self.configuration))
        if !isDecided { driver.send(planned(1)) }
        let after = driver.settle()
        #expect(after.purges.isEmpty && after.plans == [Sample.request(1)])
        #expect((driver.send(planned(1)) + driver.settle()).purges == [[Sample.request(1)]])
    }

    @Test func `a reload has the first plan made again, of every store`() {
        let driver = CoreDriver.idle(Self.configuration)
        driver.send(.admitted([Sample.loaded(1)]))
        // Before the order is out: it waits for the commit.
        let reloaded = driver.send(.reconfigured(Self.configuration)) + driver.settle()
        #expect(reloaded.planSources == [[.asked(Sample.database)]])
        // What is made of it may be of before.
        let again = driver.send(planned(1)) + driver.settle()
        #expect(again.planSources == [[.asked(Sample.database)]])
        #expect(again.announcements.isEmpty)
        let parked = driver.send(planned(1)) + driver.settle()
        #expect(parked.announcements == [.parked(.awaitingApproval)])
    }

    @Test func `an order that waited while its store was paused is compared again`() {
        let driver = comparing()
        driver.send(planned(1))
        driver.send(.pauseStore(Sample.database, reason: "operator"))
        #expect(driver.settle().purges.isEmpty)
        driver.send(.resumeStore(Sample.database))
        let after = driver.settle()
        #expect(after.purges.isEmpty && after.plans == [Sample.request(1)])
    }

    @Test func `turning it off wakes what waits, turning it on stops what is in the window`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        #expect(driver.settle().calls.count == 1)
        driver.send(.reconfigured(Self.configuration))
        #expect(driver.settle().plans == [Sample.request(1)])
        driver.send(driver.revoked(1, .success))
        #expect(driver.settle().purges.isEmpty)
        let off = driver.send(.reconfigured(Sample.configuration()))
        #expect(off.commits.first?.wakes.contains(.awaitingApproval) ?? false)
    }

    @Test func `a start without the setting wakes what waited under it`() {
        var released = CoreDriver.idle().core
        released.releaseUnapproved(at: Sample.start)
        #expect(released.looseChanges.map(\.change).wakes == [.awaitingApproval])
        var required = CoreDriver.idle(Self.configuration).core
        required.releaseUnapproved(at: Sample.start)
        #expect(required.looseChanges.map(\.change).wakes.isEmpty)
    }

    @Test func `a hold takes back a plan that is not made yet`() {
        let driver = CoreDriver.idle(Self.configuration)
        driver.send(.admitted([Sample.loaded(1)]))
        driver.send(.operate(Sample.request(1), .hold, Ticket(number: 1)))
        #expect(driver.settle().plans.isEmpty)
        #expect(driver.core.window[Sample.request(1)] == nil)
    }
}
