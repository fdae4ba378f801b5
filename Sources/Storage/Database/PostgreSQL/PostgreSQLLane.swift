import Dispatch
import Synchronization

/// A thread of its own for one connection, whose calls block.
final class PostgreSQLLane<Connection>: Sendable {
    private let queue: DispatchQueue
    private let connection: Mutex<Connection>

    init(_ label: String, _ connection: sending Connection) {
        queue = DispatchQueue(label: label)
        self.connection = Mutex(connection)
    }

    /// Runs `body` after what was enqueued before.
    func enqueue(_ body: @escaping @Sendable (borrowing Connection) -> Void) {
        queue.async { [self] in connection.withLock { body($0) } }
    }

    /// Waits for `body`, and for what was enqueued before.
    func run<T: Sendable>(_ body: @Sendable (borrowing Connection) throws -> T) throws -> T {
        try queue.sync { try connection.withLock { try body($0) } }
    }

    /// Waits for `body` without a thread.
    func perform<T: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            enqueue { connection in
                continuation.resume(with: Result { try body(connection) })
            }
        }
    }
}
