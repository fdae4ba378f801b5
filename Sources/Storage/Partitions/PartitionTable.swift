import Engine
import Lifecycle

/// The leases of partitions, by the clock of the server: clocks of hosts need not agree.
struct PartitionTable {
    let connection: any StateConnection
    let host: String

    /// Renews the leases of this host with these epochs that have not ended, and returns those.
    ///
    /// Commits that have checked a lease do not hold it up: it changes no key.
    func renew(_ claims: [PartitionClaim]) throws -> [PartitionClaim] {
        guard !claims.isEmpty else { return [] }
        return try self.claims(
            """
            WITH own AS MATERIALIZED (SELECT number FROM partitions JOIN \(Self.given)
              USING (number, epoch)
              WHERE owner = ?1 AND lease_until > \(Self.now) ORDER BY number FOR NO KEY UPDATE)
            UPDATE partitions SET lease_until = \(Self.end)
            FROM own WHERE partitions.number = own.number
            RETURNING partitions.number, epoch
            """,
            [.text(host)] + Self.values(claims)
        )
    }

    /// Takes those of the partitions that have no owner, or that an ended lease or an earlier
    /// process of this host had, each with a new epoch; `own` are those of this host.
    ///
    /// A host that obeys older rules than there are takes nothing. One whose lease a commit under
    /// way has checked is passed over: what is read after an acquisition is as that commit left it.
    func acquire(
        _ partitions: PartitionSet
    ) throws -> (claims: [PartitionClaim], own: PartitionSet) {
        var own = PartitionSet.none
        let claims = try connection.all(
            """
            WITH rule AS MATERIALIZED (SELECT version FROM rules FOR SHARE),
            free AS MATERIALIZED (SELECT number, owner FROM partitions
              WHERE (owner IS NULL OR owner = ?1 OR lease_until <= \(Self.now))
                AND number = ANY (\(Self.list("?2")))
                AND coalesce((SELECT rules_seen FROM hosts WHERE name = ?1) =
                  (SELECT version FROM rule), true)
              ORDER BY number FOR UPDATE SKIP LOCKED)
            UPDATE partitions SET owner = ?1, epoch = epoch + 1, lease_until = \(Self.end)
            FROM free WHERE partitions.number = free.number
            RETURNING partitions.number, epoch, free.owner IS NOT DISTINCT FROM ?1 AS is_own
            """,
            [.text(host), .text(partitions.members.map(\.description).joined(separator: ","))]
        ) { row in
            let claim = PartitionClaim(try row.partition("number"), epoch: row.int64("epoch"))
            if row.bool("is_own") { own.insert(claim.partition) }
            return claim
        }
        return (claims.sorted { $0.partition < $1.partition }, own)
    }

    /// Ends the leases with these epochs.
    ///
    /// With its last one a host counts no more, and its share is free at once: one statement, so
    /// that whoever is notified sees both.
    func release(_ claims: [PartitionClaim]) throws {
        guard !claims.isEmpty else { return }
        try connection.run(
            """
            WITH free AS (UPDATE partitions SET owner = NULL, lease_until = NULL
              FROM \(Self.given) WHERE partitions.number = claim.number
              AND partitions.epoch = claim.epoch AND owner = ?1 RETURNING partitions.number)
            UPDATE hosts SET live_until = renewed_at WHERE name = ?1
              AND NOT EXISTS (SELECT 1 FROM partitions WHERE owner = ?1
                AND number NOT IN (SELECT number FROM free))
            """,
            [.text(host)] + Self.values(claims)
        )
    }

    /// Which of the claims hold, until the end of the transaction: no other host takes one over
    /// meanwhile.
    func check(_ claims: Set<PartitionClaim>) throws -> Set<PartitionClaim> {
        let claims = claims.sorted { $0.partition < $1.partition }
        let found = try self.claims(
            """
            SELECT number, epoch FROM partitions JOIN \(Self.given) USING (number, epoch)
            WHERE owner = ?1 AND lease_until > \(Self.now)
            ORDER BY number FOR KEY SHARE OF partitions
            """,
            [.text(host)] + Self.values(claims)
        )
        return Set(found)
    }

    static let now = "clock_timestamp()"
    static let end = "clock_timestamp() + interval '\(Limits.leaseLifetime.milliseconds) ms'"

    /// The claims of ``values(_:)``, as a table with the columns `number` and `epoch`.
    private static let given = "unnest(\(list("?2")), \(list("?3"))) AS claim (number, epoch)"

    private static func list(_ parameter: String) -> String {
        "CAST(string_to_array(\(parameter), ',') AS bigint[])"
    }

    private static func values(_ claims: [PartitionClaim]) -> [SQLValue] {
        [
            .text(claims.map { "\($0.partition)" }.joined(separator: ",")),
            .text(claims.map { "\($0.epoch)" }.joined(separator: ",")),
        ]
    }

    private func claims(_ sql: String, _ values: [SQLValue]) throws -> [PartitionClaim] {
        try connection.all(sql, values) { row in
            PartitionClaim(try row.partition("number"), epoch: row.int64("epoch"))
        }.sorted { $0.partition < $1.partition }
    }
}

extension Row {
    /// - Throws: ``StorageError`` of kind `malformed` for a number that no partition has.
    func partition(_ column: Key) throws -> Partition {
        guard let number = UInt8(exactly: int64(column)), Int(number) < Partition.count else {
            throw StorageError.malformed("partitions")
        }
        return Partition(number: number)
    }
}
