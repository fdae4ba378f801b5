import CSQLiteGuard
import GRDB
import Synchronization

/// Connections that only read, each with a queue of its own.
///
/// GRDB's pool waits on libdispatch's shared threads, which wake the process once a second.
final class StateReaders: Sendable {
    private let queues: [DatabaseQueue]
    /// Reads that run or wait, by connection.
    private let loads: Mutex<[Int]>

    init(path: String, configuration: Configuration, count: Int) throws {
        var configuration = configuration
        configuration.readonly = true
        queues = try (0..<count).map { _ in
            try DatabaseQueue(path: path, configuration: configuration)
        }
        loads = Mutex(Array(repeating: 0, count: count))
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let index = loads.withLock { loads in
            let least = loads.indices.min { loads[$0] < loads[$1] }
            if let least { loads[least] += 1 }
            return least
        }
        guard let index else { throw StorageError(.closed, "read the state", at: "state.db") }
        defer { loads.withLock { if !$0.isEmpty { $0[index] -= 1 } } }
        return try await queues[index].read(body)
    }

    func forgetPages() async throws {
        guard loads.withLock({ !$0.isEmpty }) else { return }
        for queue in queues {
            try await queue.read { database in
                unsafe csqliteguard_forget_pages(database.sqliteConnection)
            }
        }
    }

    /// Later reads throw: GRDB traps where a connection is used after its end.
    func close() throws {
        loads.withLock { $0 = [] }
        for queue in queues { try queue.close() }
    }
}
