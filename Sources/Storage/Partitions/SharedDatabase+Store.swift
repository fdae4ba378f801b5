package import Engine
package import Lifecycle
import Synchronization

extension SharedDatabase: PartitionedStore {
    /// What is due in some partitions, by the same statements as on one host.
    package func dueRequests(
        at now: WallTime,
        limit: Int,
        excluding excluded: Set<RequestID>,
        laneLimits: [ProviderName: Int],
        in partitions: PartitionSet
    ) async throws -> DueRequests {
        try await state.dueRequests(
            at: now,
            limit: limit,
            excluding: excluded,
            laneLimits: laneLimits,
            in: partitions
        )
    }

    /// Requests of any partition: who asks has looked at whose they are.
    package func openRequests(_ ids: [RequestID]) async throws -> [LoadedRequest] {
        try await state.openRequests(ids)
    }

    /// Tokens of users in some partitions that are to be renewed.
    package func dueRenewals(
        of providers: [ProviderName],
        at now: WallTime,
        limit: Int,
        in partitions: PartitionSet
    ) async throws -> DueRenewals {
        try await state.dueRenewals(of: providers, at: now, limit: limit, in: partitions)
    }

    /// Version, pauses and override of one snapshot.
    package func rules() async throws -> SharedRules {
        let now = state.now()
        return try await state.read { database in
            SharedRules(
                version: try HostTable(connection: database, host: "").rulesVersion(),
                pauses: try StateDatabase.pauses(database),
                allowance: try StateDatabase.guardOverride(at: now, database)
            )
        }
    }

    /// What a host starts with before it has any partition, and the version of its rules.
    ///
    /// - Throws: ``StorageError``, or `CancellationError`.
    package func recover() async throws -> (recovery: Recovery, rulesVersion: Int64) {
        let rules = try await rules()
        let since = state.now() - .seconds(3600)
        let recovery = Recovery(
            suspects: [],
            exchanges: [],
            pauses: rules.pauses,
            purgesInLastHour: try await state.purgeCount(since: since),
            allowance: rules.allowance
        )
        return (recovery, rules.version)
    }

    // MARK: Commits

    /// A failure that has written nothing is tried again for as long as a lease can last.
    package func commit(
        _ changes: [StateChange],
        under claims: [PartitionClaim]
    ) async -> CommitOutcome {
        guard !changes.isEmpty else { return .committed([]) }
        let terms = CommitTerms(
            claims: claims,
            scope: PartitionScope(claims),
            purgesPerHourMax: memory.withLock { $0.purgesPerHourMax },
            now: state.now
        )
        let deadline = uptime() + Limits.leaseLifetime
        while true {
            do {
                return .committed(try await state.commit(changes, on: terms))
            } catch let error as StorageError {
                if let refusal = error.refusal { return .refused(refusal) }
                guard error.isRetryable, uptime() < deadline else { return .inDoubt }
            } catch {
                return .inDoubt
            }
            // A cancelled engine reads no answer.
            do { try await BootClock.sleep(for: RetryPolicy.lease.first) } catch { return .inDoubt }
        }
    }

    // MARK: Partitions

    /// One commit under the claims; those that are lost by then are left out.
    package func start(of claims: [PartitionClaim]) async throws -> [PartitionStart] {
        let (inherited, isOwnCrash) = memory.withLock { ($0.inherited, $0.isOwnCrash) }
        let crashed = isOwnCrash ? inherited : .none
        let now = state.now()
        var held = claims
        while !held.isEmpty {
            do {
                let starts = try await state.writer.perform(under: held) { [held] database in
                    try PartitionStarter(database: database, claims: held).start(crashed, at: now)
                }
                let started = PartitionSet(held.map(\.partition))
                memory.withLock { $0.inherited = $0.inherited.subtracting(started) }
                return starts
            } catch let error as StorageError where error.kind == .lostPartition {
                held.removeAll { error.lostClaims.contains($0) }
            }
        }
        return []
    }

    /// Operations without an answer and codes that wait, at most ``Lifecycle/Limits/windowMax``.
    package func inbox(of partitions: PartitionSet) async throws -> PartitionInbox {
        let scope = PartitionScope(partitions)
        return try await state.read { database in
            PartitionInbox(
                operations: try OperationTable(database: database).unanswered(in: scope),
                exchanges: try StateDatabase.openExchanges(
                    limit: Limits.windowMax,
                    in: scope,
                    database
                ).filter { $0.exchange.phase == .pending }
            )
        }
    }

    // MARK: Operations

    /// Writes the row; a trigger notifies the owner.
    package func submit(_ work: OperationRow.Work) async throws -> OperationID {
        try await state.writer.perform { try OperationTable(database: $0).insert(work) }
    }

    /// Waits for a notification or the next renewal, and reads.
    package func answer(to operation: OperationID) async throws -> OperationOutcome {
        try await answers.wait {
            try await self.state.read { try OperationTable(database: $0).outcome(of: operation) }
        }
    }
}
