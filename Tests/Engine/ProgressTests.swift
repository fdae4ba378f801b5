import Lifecycle
import Testing

@testable import Engine

/// What the watchdog sees of the queues.
struct ProgressTests {
    private func progress(_ driver: CoreDriver, _ place: QueueProgress.Place) -> QueueProgress? {
        driver.core.progress(at: driver.now).first { $0.place == place }
    }

    @Test func `idle, nothing is due anywhere`() {
        let driver = CoreDriver.idle()
        #expect(driver.core.progress(at: driver.now).count == 4)
        #expect(driver.core.progress(at: driver.now).allSatisfy { !$0.isDue })
    }

    @Test func `calls that wait for a slot are due, and each begun one is counted`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 2))
        driver.send(.admitted((1...4).map { Sample.loaded($0) }))
        driver.settle()
        let lane = QueueProgress.Place.provider(Sample.apple)
        #expect(
            progress(driver, lane) == QueueProgress(place: lane, isDue: true, begunCount: 2)
        )
        driver.answerRevoke(1, .success)
        #expect(
            progress(driver, lane) == QueueProgress(place: lane, isDue: true, begunCount: 3)
        )
    }

    @Test func `a provider that is down or paused keeps its work without being at fault`() {
        let driver = CoreDriver.idle(Sample.configuration(concurrency: 2))
        driver.send(.admitted((1...4).map { Sample.loaded($0) }))
        driver.settle()
        driver.send(.pause(Sample.apple, reason: "operator"))
        #expect(progress(driver, .provider(Sample.apple))?.isDue == false)
        let broken = CoreDriver.idle(Sample.configuration(concurrency: Limits.breakerFailures))
        broken.send(.admitted((1...40).map { Sample.loaded($0) }))
        broken.settle()
        for number in 1...Limits.breakerFailures {
            broken.answerRevoke(number, .failure(.unreachable))
        }
        #expect(progress(broken, .provider(Sample.apple))?.isDue == false)
    }

    @Test func `due requests in the state are due until they are read`() {
        let driver = CoreDriver.idle()
        driver.core.fetch.nextDueAt = driver.now
        #expect(progress(driver, .state)?.isDue == true)
        let before = progress(driver, .state)?.begunCount
        driver.send(.timer)
        #expect(progress(driver, .state)?.begunCount != before)
        driver.settle()
        #expect(progress(driver, .state)?.isDue == false)
    }
}
