package import Engine
package import Lifecycle
import Synchronization

extension SharedDatabase: PartitionLeases {
    /// Renews in one statement, which counts; then reads what others do.
    package func renew(_ claims: [PartitionClaim], rulesSeen: Int64) async throws -> HostView {
        // What a lost notification would have said.
        answers.wake()
        let since = state.now() - .seconds(3600)
        return try await withKeeper { [self] connection, host in
            try noticeLoss(connection)
            let renewed = try PartitionTable(connection: connection, host: host).renew(claims)
            let hosts = HostTable(connection: connection, host: host)
            if isAlone {
                let others = try hosts.others()
                // Of two that begin in the same moment, the first by name stays.
                guard others.allSatisfy({ $0 > host && !renewed.isEmpty }) else {
                    end.yield(.others(others))
                    throw StorageError(.inUse, "renew leases", at: "the state")
                }
            }
            try hosts.renew(rulesSeen: rulesSeen)
            return try hosts.view(renewed, purgesSince: since)
        }
    }

    /// Ends this process when another host has noticed a loss since it began.
    private func noticeLoss(_ connection: any StateConnection) throws {
        let isLost = try connection.fact(StateDatabase.lostCommits) != nil
        let isNew = memory.withLock { memory in
            defer { memory.knowsLoss = isLost }
            return isLost && !memory.knowsLoss
        }
        guard isNew else { return }
        end.yield(.lostCommits)
        throw PostgreSQLStateError.lostCommits
    }

    /// Takes what is free, and remembers what this host had before by a lease of its own.
    package func acquire(_ partitions: PartitionSet) async throws -> [PartitionClaim] {
        let (claims, own) = try await withKeeper { connection, host in
            try PartitionTable(connection: connection, host: host).acquire(partitions)
        }
        let acquired = PartitionSet(claims.map(\.partition))
        memory.withLock { memory in
            let inherited = own.subtracting(memory.had)
            memory.inherited = memory.inherited.subtracting(acquired).union(inherited)
            memory.had = memory.had.union(acquired)
        }
        return claims
    }

    /// Ends leases; a claim with an old epoch ends nothing.
    package func release(_ claims: [PartitionClaim]) async throws {
        try await withKeeper { connection, host in
            try PartitionTable(connection: connection, host: host).release(claims)
        }
    }

    /// Every host that has renewed, also one that is gone.
    package func hosts() async throws -> [HostStatus] {
        try await withKeeper { try HostTable(connection: $0, host: $1).all() }
    }

    /// Other hosts that work on the state; empty when they have left, or their leases have ended.
    ///
    /// - Throws: ``StorageError``.
    package func otherHosts() async throws -> [String] {
        try await withKeeper { try HostTable(connection: $0, host: $1).others() }
    }

    /// Leases have a connection beside the writer, which may wait for its turn.
    private func withKeeper<T: Sendable>(
        _ body: @escaping @Sendable (any StateConnection, String) throws -> T
    ) async throws -> T {
        do {
            return try await server.withKeeper(body)
        } catch let error as any DatabaseFailure {
            throw StorageError(error, "change leases", at: state.path)
        }
    }
}
