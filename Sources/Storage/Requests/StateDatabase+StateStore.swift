package import Engine
package import Lifecycle
import Synchronization

extension StateDatabase: StateStore {
    /// Some of each submitter, then the longest due.
    ///
    /// Each lane is a range of the index: a million requests of a closed lane cost nothing.
    package func dueRequests(
        at now: WallTime,
        limit: Int,
        excluding excluded: Set<RequestID>,
        laneLimits: [ProviderName: Int],
        in partitions: PartitionSet = .all
    ) async throws -> DueRequests {
        let scope = PartitionScope(partitions)
        return try await read { database in
            var due: [DueLanes.Due] = []
            var nextDueAt: WallTime?
            for lane in try DueLanes.all(database) {
                let most = laneLimits[ProviderName(lane)] ?? limit
                guard most > 0 else { continue }
                due += try DueLanes.due(
                    lane,
                    at: now,
                    limit: min(most, limit),
                    excluding: excluded,
                    in: scope,
                    database
                )
                guard let next = try DueLanes.next(lane, after: now, in: scope, database) else {
                    continue
                }
                nextDueAt = min(nextDueAt ?? next, next)
            }
            due.sort(by: DueLanes.Due.isBefore)
            let requests = try due.prefix(limit).compactMap {
                try RequestRecord.loadOpen($0.id, database)
            }
            return DueRequests(requests: requests, nextDueAt: nextDueAt)
        }
    }

    /// Ended and unknown ones are left out.
    package func openRequests(_ ids: [RequestID]) async throws -> [LoadedRequest] {
        try await read { database in
            try ids.compactMap { try RequestRecord.loadOpen($0, database) }
        }
    }

    /// The oldest code first.
    package func openExchanges(limit: Int) async throws -> [LoadedExchange] {
        try await read { try Self.openExchanges(limit: limit, in: .all, $0) }
    }

    static func openExchanges(
        limit: Int,
        in scope: PartitionScope,
        _ database: any StateConnection
    ) throws -> [LoadedExchange] {
        let ids = try database.all(
            """
            SELECT id FROM credentials WHERE code_phase IN ('pending', 'exchanging')
              \(scope.ofIdentity("identity_id")) ORDER BY created_at LIMIT ?
            """,
            [.int(limit)]
        ) { $0.credentialID() }
        return try ids.compactMap { try LoadedExchange.find($0, database) }
    }

    /// What is paused, and why.
    package func pauses() async throws -> StoredPauses {
        try await read { database in
            var pauses = try Self.pauses(database)
            pauses.unfinishedWakes = try WakeWriter.unfinished(database)
            return pauses
        }
    }

    static func pauses(_ database: any StateConnection) throws -> StoredPauses {
        var pauses = StoredPauses()
        pauses.holds = try StoreHoldTable(database: database).all()
        _ = try database.all(PauseColumn.self, "FROM pauses") { row in
            if row.text(.kind) == "provider" {
                pauses.providers[row.provider(.name)] = row.text(.reason)
            } else {
                pauses.stores[row.store(.name)] = row.text(.reason)
            }
        }
        return pauses
    }

    /// To the second.
    package func purgeCount(since: WallTime) async throws -> Int {
        try await read { try PurgeLog(database: $0).count(since: since) }
    }

    /// Commits all changes or none.
    ///
    /// - Throws: ``StorageError``; after `commitFailed` the process must end.
    /// - Throws: ``StorageError``, or ``Engine/CommitRefusal``.
    package func commit(_ changes: [StateChange]) async throws -> [ChangeUpdate?] {
        do {
            return try await commit(changes, on: .singleHost)
        } catch let error as StorageError {
            throw error.refusal ?? error
        }
    }

    /// - Throws: ``StorageError``; `credentialUnseen`, or `lostPartition` and `guardClosed` where
    ///   the terms do not hold.
    func commit(
        _ changes: [StateChange],
        on terms: CommitTerms
    ) async throws -> [ChangeUpdate?] {
        let (appender, scope) = (appender, terms.scope)
        let wholeGrants = wholeGrants.withLock { $0 }
        let (update, hasEnded) = try await writer.perform(under: terms.claims) { database in
            try terms.admit(changes, database)
            try UnseenCredentials(database: database).refuse(changes)
            var update: [ChangeUpdate?] = []
            update.reserveCapacity(changes.count)
            var ended: [(request: Request, at: WallTime)] = []
            try RequestWriter.write(database, appender) { requests in
                for change in changes {
                    if case .save(let now, let was, let time) = change {
                        if try requests.save(now, was: was, at: time) {
                            ended.append((now, time))
                        }
                        update.append(nil)
                    } else {
                        let before = database.totalChangesCount
                        update.append(
                            try Self.apply(change, wholeGrants, in: scope, appender, database)
                        )
                        // The engine repeats what an operator's call has committed.
                        if database.totalChangesCount > before {
                            appender.write(pauseOrResume: change)
                        }
                    }
                }
            }
            if !ended.isEmpty {
                try FoundKeyTable(database: database).forget(ended: ended, appender)
            }
            return (update, !ended.isEmpty)
        }
        messageSignal.send()
        if hasEnded {
            scrubSignal.send()
            expectRecheck(of: changes)
        }
        return update
    }

    private static func apply(
        _ change: StateChange,
        _ wholeGrants: Set<ProviderName>,
        in scope: PartitionScope,
        _ appender: LedgerAppender,
        _ database: any StateConnection
    ) throws -> ChangeUpdate? {
        let writer = ExchangeWriter(database: database, leaves: RequestLeaves(appender: appender))
        switch change {
        case .save:
            break
        case .openRecheck(let opened):
            try RecheckWriter.open(opened, database)
        case .saveExchange(let exchange, let time):
            return try writer.save(exchange, at: time).map { .identity($0) }
        case .tell(let identity, let userHash, let time):
            let update = try IdentityUpdate.tell(identity, of: userHash, at: time, database)
            return update.map { .identity($0) }
        case .storeTokens(let exchange, let tokens, let subject, let time):
            let update = try writer.store(tokens, subject, of: exchange, at: time)
            _ = try CredentialRoom(
                database: database,
                identity: update?.otherAccounts.first?.snapshot.identity ?? exchange.identity,
                isWholeGrant: wholeGrants.contains(exchange.provider),
                now: time
            ).make()
            return update.map { .identity($0) }
        case .rotate(let credential, let token, let time):
            return try writer.replace(credential, by: token, at: time).map { .identity($0) }
        case .pauseProvider(let name, let reason, let uid, let time):
            try pause("provider", name.rawValue, reason, isOwn: uid == nil, time, database)
        case .pauseStore(let name, let reason, let uid, let time):
            try pause("store", name.rawValue, reason, isOwn: uid == nil, time, database)
        case .resumeProvider(let name, _, let isOwn, _):
            try resume("provider", name.rawValue, isOwn: isOwn, database)
        case .resumeStore(let name, _, let isOwn, _):
            try resume("store", name.rawValue, isOwn: isOwn, database)
        case .placeHold(let hold):
            try StoreHoldTable(database: database).insert(hold, in: scope)
        case .liftHold(let hold, _, _):
            try StoreHoldTable(database: database).delete(hold.name)
        case .useGuardOverride(let purges, let time):
            try useGuardOverride(purges: purges, at: time, database)
        case .tendRenewals, .beginRenewal, .endRenewal, .wake, .reclock, .answer:
            return try scope.apply(change, database)
        }
        return nil
    }

    private static func pause(
        _ kind: String,
        _ name: String,
        _ reason: String,
        isOwn: Bool,
        _ time: WallTime,
        _ database: any StateConnection
    ) throws {
        try database.run(
            PauseColumn.insertion + """
                 ON CONFLICT (kind, name) DO UPDATE SET reason = excluded.reason
                  WHERE pauses.reason <> excluded.reason AND ?5 = 0
                """,
            PauseColumn.row([
                .kind: .text(kind), .name: .text(name), .reason: .text(reason),
                .since: .time(time),
            ]) + [.bool(isOwn)]
        )
    }

    private static func resume(
        _ kind: String,
        _ name: String,
        isOwn: Bool,
        _ database: any StateConnection
    ) throws {
        try database.run(
            "DELETE FROM pauses WHERE kind = ? AND name = ? AND NOT (? = 1 AND reason = ?)",
            [.text(kind), .text(name), .bool(isOwn), .text(PauseReason.byOperator)]
        )
    }
}

private enum PauseColumn: Int32, Columns {
    case kind, name, reason, since

    static let insertion = insertion(of: allCases, into: "pauses")
}
