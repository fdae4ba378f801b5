package import Engine
package import Lifecycle

extension StateDatabase {
    /// Tokens whose time to be refreshed has come; each provider is a range of the index.
    package func dueRenewals(
        of providers: [ProviderName],
        at now: WallTime,
        limit: Int,
        in partitions: PartitionSet = .all
    ) async throws -> DueRenewals {
        let scope = PartitionScope(partitions)
        return try await read { database in
            var due: [DueRenewal] = []
            var nextDueAt: WallTime?
            for name in providers {
                due += try database.all(
                    """
                    SELECT w.credential_id, c.identity_id, w.failures
                    FROM renewals w INDEXED BY renewals_due
                      JOIN credentials c ON c.id = w.credential_id
                    WHERE w.provider = ? AND w.due_at IS NOT NULL AND w.due_at <= ?
                      \(scope.ofIdentity("c.identity_id"))
                    ORDER BY w.due_at LIMIT ?
                    """,
                    [.text(name.rawValue), .time(now), .int(limit)]
                ) { row in
                    DueRenewal(
                        credential: row.credentialID("credential_id"),
                        identity: try row.identityID("identity_id"),
                        provider: name,
                        failures: row.int("failures")
                    )
                }
                let next = try database.time(
                    """
                    SELECT min(due_at) FROM renewals INDEXED BY renewals_due
                    WHERE provider = ? AND due_at IS NOT NULL AND due_at > ?
                      \(scope.ofCredential("credential_id"))
                    """,
                    [.text(name.rawValue), .time(now)]
                )
                if let next { nextDueAt = min(nextDueAt ?? next, next) }
            }
            return DueRenewals(renewals: due, nextDueAt: nextDueAt)
        }
    }

    /// Tokens that operators were warned about and that were neither renewed nor refused since.
    package func expiringTokens() async throws -> [ProviderName: Int] {
        let counts = try await all(
            """
            SELECT provider, count(*) AS count FROM renewals INDEXED BY renewals_warned
            WHERE warned_at IS NOT NULL GROUP BY provider
            """
        ) { ($0.provider("provider"), $0.int("count")) }
        return Dictionary(counts) { $1 }
    }
}
