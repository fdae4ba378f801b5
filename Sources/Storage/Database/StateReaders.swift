import CSQLiteGuard
import GRDB
import Synchronization

/// Connections that only read, each with a queue of its own.
///
/// In the place of GRDB's pool, which waits on libdispatch's shared threads: those wake the process
/// once a second from then on.
final class StateReaders: Sendable {
    private let queues: [DatabaseQueue]
    /// Reads that run or wait, for each connection.
    private let loads: Mutex<[Int]>

    init(path: String, configuration: Configuration, count: Int) throws {
        var configuration = configuration
        configuration.readonly = true
        queues = try (0..<count).map { _ in
            try DatabaseQueue(path: path, configuration: configuration)
        }
        loads = Mutex(Array(repeating: 0, count: count))
    }

    /// Reads in one snapshot, on the connection with the fewest reads; idle ones stay cold.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let index = loads.withLock { loads in
            let least = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[least] += 1
            return least
        }
        defer { loads.withLock { $0[index] -= 1 } }
        return try await queues[index].read(body)
    }

    /// Frees the pages that the connections keep: they hold rows of before.
    func forgetPages() async throws {
        for queue in queues {
            try await queue.read { database in
                unsafe csqliteguard_forget_pages(database.sqliteConnection)
            }
        }
    }

    func close() throws {
        for queue in queues { try queue.close() }
    }
}
