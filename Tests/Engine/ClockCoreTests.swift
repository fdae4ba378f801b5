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
        // The purge under way may have used the old cutoff: nothing is completed before another.
        let verified = driver.send(driver.purged([1])) + driver.settle()
        #expect(verified.verifications == [[Sample.request(1)]])
        #expect(
            driver.core.window[Sample.request(1)]?.loaded.request.cutoff
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
        driver.answerRevoke(1, .failure(.unreachable))
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

    @Test func `a request that was dated well keeps its time when the clock is set back later`() {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        driver.now = driver.now + Sample.day * 2
        let step = ClockStep(from: driver.now - Sample.day, to: driver.now, by: .seconds(-20))
        driver.now = step.to + step.by
        driver.send(.clockStepped(step))
        driver.settle()
        #expect(driver.core.isClockBehind)
        driver.now = step.to + .seconds(1)
        driver.send(.timer)
        driver.settle()
        #expect(!driver.core.isClockBehind)
        let request = driver.core.window[Sample.request(1)]?.loaded.request
        #expect(request?.cutoff(in: request?.purges.first) == Sample.start)
        #expect(request?.acceptedAt == Sample.start)
    }

    @Test func `a request that was accepted before a jump is taken from the state after it`() {
        let driver = CoreDriver.idle()
        let read = driver.core.beginAdmission()
        let step = ClockStep(from: Sample.start, to: driver.now, by: Self.year)
        driver.now = driver.now + Self.year
        driver.send(.clockStepped(step))
        driver.settle()
        // Its acceptance was committed before the jump, and is told after it.
        let late = driver.send(.admitted([Sample.loaded(1, provider: nil)], by: read))
        #expect(late.commits.isEmpty)
        #expect(late.fetches.count == 1)
        driver.fetch([])
        let next = driver.core.beginAdmission()
        let right = driver.send(.admitted([Sample.loaded(2, provider: nil)], by: next))
        #expect(right.commits.count == 1)
    }

    @Test func `a code of before a clock that was ahead is not young for ever`() {
        var exchange = CodeExchange(
            credential: Sample.credential(1),
            identity: Sample.identity(1),
            provider: Sample.apple,
            createdAt: Sample.start + Self.year - .seconds(400)
        )
        // The application noted the code before the service began, by the same clock.
        let to = Sample.start + Self.year + .seconds(60)
        let step = ClockStep(from: Sample.start + Self.year, to: to, by: .zero - Self.year)
        exchange.reclock(step, at: to + step.by)
        #expect(exchange.createdAt <= to + step.by)
    }

    @Test func `what was read before a jump is read again`() {
        let driver = CoreDriver.idle()
        driver.send(.guardOverride(purges: 1, until: driver.now + Sample.day))
        driver.commit()
        let step = ClockStep(from: Sample.start, to: driver.now, by: Self.year)
        driver.now = driver.now + Self.year
        driver.send(.clockStepped(step))
        // The page shows times of before, and the state has not taken over the jump yet.
        #expect(driver.fetch([Sample.loaded(1, provider: nil)]).fetches.isEmpty)
        #expect(driver.core.workCount == 0)
        #expect(driver.commit().fetches.count == 1)
    }
}
