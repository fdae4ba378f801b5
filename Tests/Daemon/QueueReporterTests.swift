import Engine
import Storage
import Testing

@testable import Daemon

@Suite("A queue's health in the journal") struct QueueReporterTests {
    @Test(
        "every change has an event that names the queue and says what it is",
        arguments: [
            (.quarantined(.unreachable), "queueQuarantined detail=app error=unreachable"),
            (.back, "queueBack detail=app"), (.writable, "queueBack detail=app"),
            (.unwritable(.denied), "queueUnwritable detail=app error=denied"),
            (.foreignObjects(count: 3), "queueIrregular count=3 detail=app error=foreign_objects"),
            (.unreadableRows(count: 2), "queueIrregular count=2 detail=app error=unreadable_rows"),
            (.replaced(isSameSpool: false), "queueIrregular detail=app error=other_queue"),
            (.recreatedRows(count: 1), "queueIrregular count=1 detail=app error=recreated_rows"),
        ] as [(SpoolHealthChange, String)]
    )
    func events(_ change: SpoolHealthChange, _ note: String) {
        let log = LogBook()
        SpoolReporter(queue: "app", logger: log.logger, back: Signal()).report(change)
        #expect(log.all == [note])
    }
}
