import Engine
import Lifecycle

/// Begins with partitions that were just acquired, in a commit under their claims.
struct PartitionStarter {
    let database: any StateConnection
    let claims: [PartitionClaim]

    private var scope: PartitionScope { PartitionScope(claims) }

    /// Makes due what may have waited for the last owner, and reads where it stopped.
    ///
    /// In `crashed`, a crash counts against the requests that were worked on.
    func start(_ crashed: PartitionSet, at now: WallTime) throws -> [PartitionStart] {
        let own = PartitionSet(claims.map(\.partition)).intersection(crashed)
        try forgetWork(own)
        try makeDue(at: now)
        let codes = try StateDatabase.openExchanges(
            limit: Limits.windowMax,
            in: scope,
            database
        )
        let exchanges = Dictionary(grouping: codes, by: \.partition)
        let suspects = try suspects()
        let wakes = try WakeWriter(database: database, scope: scope).unfinishedByPartition()
        return claims.map { claim in
            PartitionStart(
                claim,
                exchanges: exchanges[claim.partition] ?? [],
                suspects: suspects[claim.partition] ?? [],
                unfinishedWakes: wakes[claim.partition] ?? [:]
            )
        }
    }

    private func forgetWork(_ crashed: PartitionSet) throws {
        if !crashed.isEmpty {
            try database.run(
                """
                UPDATE requests SET crash_count = crash_count + 1
                WHERE ended_at IS NULL AND is_active = 1\(PartitionScope(crashed).term())
                """
            )
        }
        try database.run(
            """
            UPDATE requests SET is_active = 0
            WHERE ended_at IS NULL AND is_active = 1\(scope.term())
            """
        )
    }

    private func makeDue(at now: WallTime) throws {
        try StateDatabase.makeWaitingDue(database, scope, at: now)
        // The ledger of the last host may have held it; what a hold stops parks again.
        let reasons = ParkReason.allCases.filter { $0.isOfHost || $0 == .onHold }
            .map { "'\($0.rawValue)'" }
        try database.run(
            """
            UPDATE requests SET due_at = min(coalesce(due_at, ?1), ?1)
            WHERE ended_at IS NULL AND park_reason IN (\(reasons.joined(separator: ", ")))
              \(scope.term())
            """,
            [.time(now)]
        )
    }

    private func suspects() throws -> [Partition: [RequestID]] {
        let found = try database.all(
            """
            SELECT id, partition FROM requests
            WHERE ended_at IS NULL AND crash_count BETWEEN 1 AND ?\(scope.term())
            ORDER BY id LIMIT ?
            """,
            [.int(Limits.crashesMax - 1), .int(Limits.windowMax)]
        ) { (partition: try $0.partition("partition"), id: try $0.requestID("id")) }
        return Dictionary(grouping: found, by: \.partition).mapValues { $0.map(\.id) }
    }
}
