import GRDB
package import Lifecycle

extension StateDatabase {
    /// Has every request that ends from now on name a scope: what its receipt needs of the
    /// configuration.
    ///
    /// - Parameter document: Never personal, never secret; kept once, however often it comes back.
    /// - Throws: ``StorageError``: the scope of before counts on.
    package func enforce(scope document: String) async throws {
        try await writer.perform { database in
            try database.run("UPDATE scopes SET is_current = 0 WHERE is_current = 1")
            try database.run(
                """
                INSERT INTO scopes (document, is_current) VALUES (?, 1)
                ON CONFLICT (document) DO UPDATE SET is_current = 1
                """,
                .text(document)
            )
        }
    }

    /// The scope that was in force when a request ended; `nil` while it is open, and for one that
    /// ended before scopes were kept.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func scope(of id: RequestID) async throws -> String? {
        try await read { database in
            try database.first(
                """
                SELECT document FROM scopes
                WHERE id = (SELECT scope FROM requests WHERE requests.id = ?)
                """,
                .id(id.value)
            ) { $0.text(0) }
        }
    }
}
