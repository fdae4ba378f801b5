package import Engine
package import Lifecycle

extension StorageError: StoreFailure {
    /// Nothing was committed, and the cause may end by itself.
    package var isRetryable: Bool { kind.provesNoCommit || kind == .overloaded }
}

/// What a restart finds in the state.
package struct Recovery: Sendable {
    /// Worked on in a crash of our own: they run one at a time.
    package let suspects: [RequestID]
    package let exchanges: [LoadedExchange]
    package let pauses: StoredPauses
    package let purgesInLastHour: Int
    /// The rest of an override of the mass-deletion guard.
    package let allowance: GuardAllowance?
}

extension StateDatabase {
    /// Counts a crash of our own once, and reads what the engine starts with.
    package func recover(isOwnCrash: Bool, at now: WallTime) async throws -> Recovery {
        _ = try await takeSuspects(isOwnCrash: isOwnCrash)
        let suspects = try await read { database in
            try database.requestIDs(
                """
                SELECT id FROM requests INDEXED BY requests_due
                WHERE ended_at IS NULL AND crash_count BETWEEN 1 AND ? LIMIT ?
                """,
                [.int(Limits.crashesMax - 1), .int(Limits.windowMax)]
            )
        }
        return Recovery(
            suspects: suspects,
            exchanges: try await openExchanges(limit: Limits.windowMax),
            pauses: try await pauses(),
            purgesInLastHour: try await purgeCount(since: now - .seconds(3600)),
            allowance: try await guardOverride(at: now)
        )
    }
}
