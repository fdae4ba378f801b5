package import Engine
import GRDB
package import Lifecycle

extension StateDatabase {
    /// The most urgent open requests.
    ///
    /// - Parameters:
    ///   - time: Deadlines after it are left out.
    ///   - limit: The most rows to return.
    /// - Returns: The earliest deadline first.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func deadlines(before time: WallTime, limit: Int) async throws -> [DeadlineRow] {
        try await read { database in
            try database.all(
                """
                SELECT id, deadline_at FROM requests INDEXED BY requests_deadline
                WHERE ended_at IS NULL AND deadline_at <= ? ORDER BY deadline_at LIMIT ?
                """,
                .time(time),
                .int(limit)
            ) { row in
                DeadlineRow(request: try row.requestID(0), deadlineAt: row.time(1))
            }
        }
    }
}
