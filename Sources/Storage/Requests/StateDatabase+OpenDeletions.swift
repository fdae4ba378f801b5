package import Lifecycle

extension StateDatabase {
    /// Open deletions that have begun to purge one of some targets.
    ///
    /// - Parameter targets: Which ones.
    /// - Returns: Them, and whether the last commit has one of the targets as purged or verified.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func openDeletions(
        begunIn targets: Set<TargetName>
    ) async throws -> [RequestID: Bool] {
        try await read { database in
            var found: [RequestID: Bool] = [:]
            try database.each(
                """
                SELECT purges.request_id, target, step <> 'waiting'
                FROM requests INDEXED BY requests_deadline
                JOIN purges ON purges.request_id = requests.id
                WHERE requests.ended_at IS NULL AND purge_started_at IS NOT NULL
                  AND purges.attempts > 0
                """
            ) { row in
                guard targets.contains(TargetName(row.text(1))) else { return }
                let id = try row.requestID(0)
                found[id] = found[id] ?? false || row.bool(2)
            }
            return found
        }
    }
}
