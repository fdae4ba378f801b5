import Lifecycle
import Testing

@testable import Engine

/// What an operator hears of a store that lets deletions make no progress.
struct StuckDeletionsTests {
    private static let busy = EffectFailure.throttled(retryAfter: nil)
    private static let text = "another transaction holds a lock, SQLSTATE 55P03"

    private static let done = PurgeAnswer.done(
        PurgeCounts(entries: [PurgeCounts.Entry(name: "t", action: .rule(.delete), rowCount: 1)])
    )

    private static func answer(
        _ number: Int,
        _ answer: PurgeAnswer,
        reason: String? = text
    ) -> EngineInput {
        .storeAnswered(
            Sample.database,
            [(Sample.request(number), .purged(Sample.database, answer))],
            reason: reason
        )
    }

    /// The purges of two requests, both of which have failed.
    private static func driver(_ failure: EffectFailure, reason: String? = text) -> CoreDriver {
        let driver = CoreDriver.idle()
        driver.send(.admitted((1...2).map { Sample.loaded($0) }))
        driver.settle()
        for number in 1...2 { driver.answerRevoke(number, .success) }
        for number in 1...2 {
            driver.send(answer(number, .failure(failure), reason: reason))
            driver.settle()
        }
        return driver
    }

    private static func reports(
        _ driver: CoreDriver,
        after time: Duration
    ) -> [EngineReport] {
        driver.now = Sample.start + time
        let reports = driver.send(.timer).reports
        driver.settle()
        return reports
    }

    @Test func `deletions that fail for five minutes are one report, until all go on`() {
        let driver = Self.driver(Self.busy)
        #expect(Self.reports(driver, after: .seconds(100)).isEmpty)
        let alarmAt = Sample.start + Limits.stuckAfter
        #expect(driver.core.wakeTime(after: driver.now) == alarmAt)
        #expect(Self.reports(driver, after: Limits.stuckAfter - .milliseconds(1)).isEmpty)
        #expect(driver.core.storeHealth(Sample.database)?.stuckSince == nil)
        #expect(
            Self.reports(driver, after: Limits.stuckAfter)
                == [.storeStuck(Sample.database, reason: Self.text)]
        )
        #expect(driver.core.storeHealth(Sample.database)?.stuckSince == Sample.start)
        #expect(driver.core.storeHealth(Sample.database)?.stuckReason == Self.text)
        #expect(Self.reports(driver, after: .seconds(1000)).isEmpty)
        let done = Self.done
        #expect(driver.send(Self.answer(1, done)).reports.isEmpty)
        let last = driver.send(Self.answer(2, done))
        #expect(last.reports == [.storeGoesOn(Sample.database)])
        #expect(driver.core.storeHealth(Sample.database)?.stuckSince == nil)
    }

    @Test(arguments: [
        EffectFailure.unreachable, .lost, .unusable, .keys(.tooMany), .throttled(retryAfter: nil),
    ])
    func `a store without words of its own is reported with the code`(_ failure: EffectFailure) {
        let driver = Self.driver(failure, reason: nil)
        let begun = EngineReport.storeStuck(Sample.database, reason: failure.code)
        #expect(Self.reports(driver, after: Limits.stuckAfter) == [begun])
    }

    @Test(arguments: [
        EffectFailure.blocked(Obstacle(.trigger)), .blocked(Obstacle(locked: 3, at: "posts")),
        .misconfigured,
    ])
    func `what has an alarm of its own is not reported again`(_ failure: EffectFailure) {
        let driver = Self.driver(failure)
        #expect(Self.reports(driver, after: Limits.stuckAfter).isEmpty)
    }

    @Test func `one user of many who fails is reported, and a user who is served is not`() {
        let driver = Self.driver(Self.busy)
        driver.send(Self.answer(1, Self.done))
        driver.settle()
        let begun = EngineReport.storeStuck(Sample.database, reason: Self.text)
        #expect(Self.reports(driver, after: Limits.stuckAfter) == [begun])
    }

    @Test(arguments: [
        PurgeAnswer.stopped, .halted(PurgeCounts()), .done(PurgeCounts()),
        .failure(.blocked(Obstacle(.trigger))),
    ])
    func `what is no progress begins no new time`(_ answer: PurgeAnswer) {
        let driver = Self.driver(Self.busy)
        driver.now = Sample.start + .seconds(100)
        driver.send(Self.answer(1, answer))
        driver.settle()
        driver.send(Self.answer(2, Self.done))
        driver.settle()
        let begun = EngineReport.storeStuck(Sample.database, reason: Self.text)
        #expect(Self.reports(driver, after: Limits.stuckAfter) == [begun])
    }

    @Test func `a pause ends it, for it has an alarm of its own`() {
        let driver = Self.driver(Self.busy)
        #expect(Self.reports(driver, after: Limits.stuckAfter).count == 1)
        let paused = driver.send(.pauseStore(Sample.database, reason: "operator", by: 1))
        #expect(paused.reports == [.storeGoesOn(Sample.database)])
    }

    @Test func `as many are remembered as the bound says`() {
        var stuck = StuckDeletions()
        for number in 0..<Limits.stuckMax + 10 {
            stuck.note(Sample.request(number), "busy", at: Sample.start)
        }
        for number in 0..<Limits.stuckMax { stuck.forget(Sample.request(number)) }
        #expect(stuck.since == nil)
    }
}
