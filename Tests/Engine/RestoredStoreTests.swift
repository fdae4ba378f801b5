import Engine
import Lifecycle
import Testing

/// A store is put back from a backup while a deletion that has purged it is open.
struct RestoredStoreTests {
    @Test func `its purge and verification come again, up to the end of the restoration`() throws {
        let driver = CoreDriver.idle()
        driver.send(.admitted([Sample.loaded(1)]))
        driver.settle()
        let first = driver.answerRevoke(1, .success)
        let cutoff = try #require(first.purgeOrders.first?.first?.cutoff)
        driver.send(driver.purged([1]))
        let restoredAt = cutoff + .seconds(3600)
        let event = RequestEvent.restored([Sample.database], at: restoredAt)
        driver.send(.operate(Sample.request(1), event, Ticket(number: 1)))
        driver.settle()
        // The verification that was under way has seen the store as it was.
        let again = driver.send(driver.verified([1])) + driver.settle()
        #expect(again.purgeOrders.map { $0.map(\.cutoff) } == [[restoredAt]])
        let after = driver.send(driver.purged([1])) + driver.settle()
        #expect(!after.announcements.contains(.completed))
        let end = driver.send(driver.verified([1])) + driver.settle()
        #expect(end.announcements.contains(.completed))
    }
}
