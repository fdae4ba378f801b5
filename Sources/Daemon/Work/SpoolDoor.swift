import Engine
import Synchronization

/// The spool, for an engine that is made before it.
final class SpoolDoor: SpoolReader {
    private let spool = Mutex<(any SpoolReader)?>(nil)

    func open(_ reader: any SpoolReader) { spool.withLock { $0 = reader } }

    func readToEnd() async -> SpoolReadOutcome {
        await spool.withLock { $0 }?.readToEnd() ?? .stopped
    }
}
