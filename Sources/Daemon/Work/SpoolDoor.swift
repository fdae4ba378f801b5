import Engine
import Synchronization

/// The spool and the queues, for an engine that is made before them.
final class SpoolDoor: SpoolReader {
    private let spools = Mutex<[any SpoolReader]>([])

    func open(_ readers: [any SpoolReader]) { spools.withLock { $0 = readers } }

    /// Reads all of them at the same time, and answers the worst of their outcomes.
    func readToEnd() async -> SpoolReadOutcome {
        let readers = spools.withLock { $0 }
        guard readers.count != 1 else { return await readers[0].readToEnd() }
        guard !readers.isEmpty else { return .stopped }
        return await withTaskGroup(of: SpoolReadOutcome.self) { group in
            for reader in readers { group.addTask { await reader.readToEnd() } }
            var worst = SpoolReadOutcome.read
            for await outcome in group where worst != .stopped && outcome != .read {
                worst = outcome
            }
            return worst
        }
    }
}
