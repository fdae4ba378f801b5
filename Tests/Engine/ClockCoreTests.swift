import Lifecycle
import Testing

@testable import Engine

/// What the core does when the clock jumps.
struct ClockCoreTests {
    private static let year = Duration.seconds(365 * 86_400)

    @Test func `a request accepted a year behind is purged up to its true time, also again`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1, provider: nil)]))
        #expect(driver.settle().purges == [[Sample.request(1)]])
        let step = ClockStep(from: Sample.start - .seconds(9), to: driver.now, by: Self.year)
        driver.now = driver.now + Self.year
        driver.send(.clockStepped(step))
        driver.settle()
        // The purge under way may have used the old fence: nothing is completed before another.
        let verified = driver.send(driver.purged([1])) + driver.settle()
        #expect(verified.verifications == [[Sample.request(1)]])
        #expect(
            driver.core.window[Sample.request(1)]?.loaded.request.fence
                == Sample.start + Self.year
        )
    }

    @Test func `a verification that was asked for before the jump completes nothing`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1, provider: nil)]))
        driver.settle()
        driver.send(driver.purged([1]))
        driver.settle()
        let step = ClockStep(from: Sample.start, to: driver.now, by: Self.year)
        driver.now = driver.now + Self.year
        driver.send(.clockStepped(step), driver.verified([1]))
        let actions = driver.settle()
        #expect(actions.changed.allSatisfy { $0.phase != .completed })
        #expect(actions.purges == [[Sample.request(1)]])
    }

    @Test func `what waits a year ahead is due at once`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        driver.answerRevoke(1, .trouble(.unreachable))
        let step = ClockStep(from: Sample.start - Self.year, to: driver.now, by: .zero - Self.year)
        driver.now = driver.now - Self.year
        let actions = driver.send(.clockStepped(step))
        let changes = actions.commits.first ?? []
        #expect(changes.contains { if case .reclock = $0 { true } else { false } })
        driver.commit()
        let wake = driver.core.wakeTime(after: driver.now)
        #expect(wake.map { $0.since(driver.now) < Sample.day } ?? true)
    }

    @Test func `nothing is purged while the clock is behind the ledger`() {
        let driver = CoreDriver.idle()
        driver.core.setClockFloor(driver.now + .seconds(3600), at: driver.now)
        driver.send()
        driver.settle()
        driver.send(.admitted([Sample.loaded(1, provider: nil)]))
        let actions = driver.settle()
        #expect(actions.purges.isEmpty)
        #expect(actions.changed.last?.phase.parkReason == .clockBehind)
        driver.now = driver.now + .seconds(3600)
        #expect(driver.send(.timer).commits.first?.wakes == [.clockBehind])
    }

    @Test func `what was read before a jump is read again`() {
        let driver = CoreDriver.idle()
        driver.send(.guardOverride(purges: 1, until: driver.now + Sample.day))
        driver.commit()
        let step = ClockStep(from: Sample.start, to: driver.now, by: Self.year)
        driver.now = driver.now + Self.year
        driver.send(.clockStepped(step))
        // The page shows times of before, and the store has not taken over the jump yet.
        #expect(driver.fetch([Sample.loaded(1, provider: nil)]).fetches.isEmpty)
        #expect(driver.core.workCount == 0)
        #expect(driver.commit().fetches.count == 1)
    }
}
