import Engine
import Lifecycle

/// The hosts that share a state, and what each knows of the others.
struct HostTable {
    private enum Column: Int32, Columns {
        case name, renewedAt, liveUntil, rulesSeen
    }

    let connection: any StateConnection
    let host: String

    /// Notes that this host lives, and the version of the rules that it obeys.
    ///
    /// Hosts that have not lived for a day are forgotten.
    func renew(rulesSeen: Int64) throws {
        try connection.run(
            """
            WITH gone AS (DELETE FROM hosts
              WHERE name <> ?1 AND live_until < \(PartitionTable.now) - interval '1 day')
            INSERT INTO hosts (\(Column.names()))
            VALUES (?1, \(PartitionTable.now), \(PartitionTable.end), ?2)
            ON CONFLICT (name) DO UPDATE SET renewed_at = excluded.renewed_at,
              live_until = excluded.live_until, rules_seen = excluded.rules_seen
            """,
            [.text(host), .int(rulesSeen)]
        )
    }

    /// What this host sees after it has renewed these leases.
    func view(_ renewed: [PartitionClaim], purgesSince: WallTime) throws -> HostView {
        let version = try rulesVersion()
        let hosts = try connection.all(
            """
            SELECT name, rules_seen, live_until > \(PartitionTable.now) AS is_live
            FROM hosts ORDER BY name
            """
        ) { (name: $0.text("name"), seen: $0.int64("rules_seen"), isLive: $0.bool("is_live")) }
        let leases = try leases()
        var view = LeaseView()
        view.renewed = renewed
        let own = PartitionSet(renewed.map(\.partition))
        view.free = PartitionSet(
            leases.filter { lease in
                (lease.rest ?? .zero) <= .zero
                    || lease.owner == host && !own.contains(lease.partition)
            }.map(\.partition)
        )
        let live = hosts.filter(\.isLive).map(\.name)
        view.hostCount = max(1, live.count)
        view.rank = live.firstIndex(of: host) ?? 0
        view.nextExpiry = leases.filter { $0.owner != host }.compactMap(\.rest)
            .filter { $0 > .zero }.min()
        let owners = Set(leases.filter { ($0.rest ?? .zero) > .zero }.compactMap(\.owner))
        return HostView(
            leases: view,
            rulesVersion: version,
            rulesSeenByAll: hosts.filter { owners.contains($0.name) }.map(\.seen).min() ?? version,
            purgesInLastHour: try PurgeLog(database: connection).count(since: purgesSince)
        )
    }

    /// Every host with its partitions; the times are those of the server.
    func all() throws -> [HostStatus] {
        let leases = try leases().filter { ($0.rest ?? .zero) > .zero }
        return try connection.all(
            """
            SELECT name, CAST(floor(extract(epoch FROM renewed_at) * 1000) AS INTEGER) AS renewed_at
            FROM hosts ORDER BY name
            """
        ) { row in
            let name = row.text("name")
            let own = leases.filter { $0.owner == name }.map(\.partition)
            return HostStatus(
                name: name,
                partitions: PartitionSet(own),
                lastRenewal: row.time("renewed_at")
            )
        }
    }

    /// Other hosts whose last renewal still counts.
    func others() throws -> [String] {
        try connection.all(
            """
            SELECT name FROM hosts WHERE name <> ?1 AND live_until > \(PartitionTable.now)
            UNION SELECT owner FROM partitions
              WHERE owner <> ?1 AND lease_until > \(PartitionTable.now)
            ORDER BY 1
            """,
            [.text(host)]
        ) { $0.text() }
    }

    /// When this name last renewed leases that may still count, and how long ago that is.
    func renewal() throws -> (at: String, age: Duration)? {
        try connection.first(
            """
            SELECT CAST(renewed_at AS text) AS at, CAST(floor(extract(epoch
              FROM \(PartitionTable.now) - renewed_at) * 1000) AS INTEGER) AS age
            FROM hosts WHERE name = ?1 AND live_until > \(PartitionTable.now)
            """,
            [.text(host)]
        ) { (at: $0.text("at"), age: .milliseconds($0.int64("age"))) }
    }

    func rulesVersion() throws -> Int64 {
        Int64(try connection.int("SELECT version FROM rules"))
    }

    private struct Lease {
        let partition: Partition
        let owner: String?
        /// Until its end by the clock of the server; `nil` without an owner.
        let rest: Duration?
    }

    private func leases() throws -> [Lease] {
        try connection.all(
            """
            SELECT number, owner, CAST(floor(extract(epoch FROM lease_until - \(PartitionTable.now))
              * 1000) AS INTEGER) AS rest FROM partitions ORDER BY number
            """
        ) { row in
            Lease(
                partition: try row.partition("number"),
                owner: row.textOrNil("owner"),
                rest: row.intOrNil("rest").map { .milliseconds($0) }
            )
        }
    }
}
