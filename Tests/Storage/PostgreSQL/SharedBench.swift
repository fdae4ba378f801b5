import Engine
import Lifecycle
import Testing

@testable import Storage

/// Several hosts that share one state.
final class SharedBench: Sendable {
    let server: StateServer
    let schema: String
    let hosts: [SharedDatabase]

    static let start = StateFixture.start

    init(
        _ names: String...,
        purgesPerHourMax: Int = 1000,
        isAlone: Bool = false,
        faults: PostgreSQLFaults = PostgreSQLFaults(),
        uptime: (@Sendable () -> Duration)? = nil,
        now: @escaping @Sendable () -> WallTime = { start }
    ) throws {
        server = try StateServer.shared.get()
        let plan = server.plan()
        schema = plan.schema
        try server.create(plan)
        hosts = try names.map { [server, schema] name in
            try Self.open(
                server,
                schema,
                name,
                purgesPerHourMax,
                faults,
                uptime,
                isAlone: isAlone,
                now: now
            )
        }
    }

    private static func open(
        _ server: StateServer,
        _ schema: String,
        _ name: String,
        _ purgesPerHourMax: Int = 1000,
        _ faults: PostgreSQLFaults = PostgreSQLFaults(),
        _ uptime: (@Sendable () -> Duration)? = nil,
        isOwnCrash: Bool = false,
        isAlone: Bool = false,
        now: @escaping @Sendable () -> WallTime = { start }
    ) throws -> SharedDatabase {
        var plan = server.plan(schema: schema, host: name, uptime: uptime)
        plan.faults = faults
        return try SharedDatabase.open(
            plan,
            purgesPerHourMax: purgesPerHourMax,
            isOwnCrash: isOwnCrash,
            isAlone: isAlone,
            now: now
        )
    }

    /// The next process of a host.
    func restart(_ name: String, isOwnCrash: Bool) throws -> SharedDatabase {
        try Self.open(server, schema, name, isOwnCrash: isOwnCrash)
    }

    /// As if each lease had been renewed for the last time long ago.
    func expire() throws {
        try server.run(
            "UPDATE partitions SET lease_until = now() - interval '1 s' WHERE owner IS NOT NULL",
            in: schema
        )
    }

    /// As if a host had lived for the last time long ago.
    func forget(_ name: String) throws {
        try server.run(
            "UPDATE partitions SET lease_until = now() - interval '1 s' WHERE owner = '\(name)'",
            in: schema
        )
        try server.run(
            "UPDATE hosts SET renewed_at = now() - interval '1 min', "
                + "live_until = now() - interval '1 s' WHERE name = '\(name)'",
            in: schema
        )
    }

    /// Leases that outlast the slowest test.
    func prolong() throws {
        try server.run(
            "UPDATE partitions SET lease_until = now() + interval '1 h' WHERE owner IS NOT NULL",
            in: schema
        )
        try server.run(
            "UPDATE hosts SET live_until = now() + interval '1 h' WHERE live_until > renewed_at",
            in: schema
        )
    }

    /// Acquires partitions for long.
    func take(_ partitions: PartitionSet, for host: SharedDatabase) async throws -> [PartitionClaim]
    {
        let claims = try await host.acquire(partitions)
        try prolong()
        return claims
    }

    /// Renews as a host does, for long.
    func renew(
        _ claims: [PartitionClaim],
        for host: SharedDatabase,
        rulesSeen: Int64 = 1
    ) async throws -> HostView {
        let view = try await host.renew(claims, rulesSeen: rulesSeen)
        try prolong()
        return view
    }

    func int(_ sql: String) async throws -> Int {
        try await hosts[0].state.read { try $0.int(sql) }
    }
}

extension SharedDatabase {
    func accept(
        _ user: String,
        at now: WallTime = SharedBench.start
    ) async throws -> LoadedRequest {
        let outcomes = try await state.accept(
            [StateFixture.submission(user)],
            policy: StateFixture.policy,
            now: now,
            newID: { RequestID(StateFixture.newID()) }
        )
        guard case .accepted(let loaded, _) = outcomes[0] else {
            throw StorageError(.sqlite, "accept", at: "test")
        }
        return loaded
    }

    func keep(_ credential: NewCredential) async throws -> StoredCredential {
        let outcomes = try await state.storeCredentials(
            [credential],
            now: SharedBench.start,
            newID: { IdentityID(StateFixture.newID()) }
        )
        guard case .stored(let stored) = outcomes[0] else {
            throw StorageError(.sqlite, "store", at: "test")
        }
        return stored
    }
}

extension LoadedRequest {
    var partition: Partition { Partition(userHash: userHash) }

    func claim(in claims: [PartitionClaim]) -> [PartitionClaim] {
        claims.filter { $0.partition == partition }
    }

    /// A change that begins the purge.
    var beginsPurge: StateChange {
        var now = request
        now.phase = .open(.purging)
        now.purgeStartedAt = SharedBench.start
        return .save(now: now, was: request, at: SharedBench.start)
    }

    func change(_ body: (inout Request) -> Void) -> StateChange {
        var now = request
        body(&now)
        return .save(now: now, was: request, at: SharedBench.start)
    }
}

extension CommitOutcome {
    var isCommitted: Bool {
        guard case .committed = self else { return false }
        return true
    }

    var refusal: CommitRefusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }

    var isInDoubt: Bool {
        guard case .inDoubt = self else { return false }
        return true
    }
}

extension PartitionSet {
    static let lower = PartitionSet(Partition.all.prefix(32))
    static let upper = PartitionSet(Partition.all.suffix(32))
}
