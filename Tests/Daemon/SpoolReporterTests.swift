import Engine
import Storage
import Testing

@testable import Daemon

@Suite("The spool's health in the journal") struct SpoolReporterTests {
    @Test(
        "every change has an event that says what it is",
        arguments: [
            (.quarantined(.wrongSchema), "spoolQuarantined error=wrong_schema"),
            (.back, "spoolBack"), (.writable, "spoolBack"),
            (.unwritable(.diskFull), "spoolUnwritable error=disk_full"),
            (.foreignObjects(count: 3), "spoolForeignObjects count=3"),
            (.unreadableRows(count: 2), "spoolUnreadableRows count=2"),
            (.replaced(isSameSpool: false), "spoolReplaced detail=other_spool"),
            (.recreatedRows(count: 1), "spoolReplaced count=1 detail=recreated_rows"),
            (.enteredWAL, "spoolInWAL"), (.leftWAL, "spoolBack detail=left_wal"),
        ] as [(SpoolHealthChange, String)]
    )
    func events(_ change: SpoolHealthChange, _ note: String) async {
        let (log, back) = (LogBook(), Signal())
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        back.set { signal.yield() }
        SpoolReporter(logger: log.logger, back: back).report(change)
        #expect(log.all == [note])
        signal.finish()
        let count = await signals.reduce(0) { count, _ in count + 1 }
        #expect(count == (change == .back ? 1 : 0), "the engine reads again what is back")
    }
}
