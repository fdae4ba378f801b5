package import Engine
import Ledger
package import Lifecycle

extension StateDatabase {
    /// Yields when ``dueRechecks(under:at:limit:)`` may return something new.
    package var recheckSignals: AsyncStream<Void> { recheckAlarm.signal.signals }

    /// With `nil` every new recheck signals.
    package func expectRecheck(at time: WallTime?) { recheckAlarm.expect(time) }

    package func wakeRechecks() { recheckAlarm.wake() }

    func expectRecheck(of changes: [StateChange]) {
        var earliest: WallTime?
        for case .openRecheck(let opened) in changes {
            earliest = min(earliest ?? opened.dueAt, opened.dueAt)
        }
        if let earliest { recheckAlarm.opened(dueAt: earliest) }
    }

    /// The longest due first of each vault key, and when the next one becomes due.
    ///
    /// `keyIDs` are the vault keys that can be used, or are known to be lost.
    package func dueRechecks(
        under keyIDs: [String],
        at now: WallTime,
        limit: Int
    ) async throws -> DueRechecks {
        try await read { database in
            var due: [DueRecheck] = []
            var nextDueAt: WallTime?
            for id in keyIDs {
                due += try Self.dueRechecks(under: id, at: now, limit: limit - due.count, database)
                let next = try database.time(
                    "SELECT min(due_at) FROM rechecks WHERE key_id = ? AND due_at > ?",
                    [.text(id), .time(now)]
                )
                if let next { nextDueAt = min(nextDueAt ?? next, next) }
            }
            return DueRechecks(rechecks: due, nextDueAt: nextDueAt)
        }
    }

    private static func dueRechecks(
        under keyID: String,
        at now: WallTime,
        limit: Int,
        _ database: any StateConnection
    ) throws -> [DueRecheck] {
        guard limit > 0 else { return [] }
        let ids = try database.requestIDs(
            """
            SELECT request_id FROM rechecks INDEXED BY rechecks_due
            WHERE key_id = ? AND due_at <= ? ORDER BY due_at LIMIT ?
            """,
            [.text(keyID), .time(now), .int(limit)]
        )
        return try ids.compactMap { id in
            guard let row = try RecheckRow.find(id, database) else { return nil }
            // What an operator gave up was never erased, and so cannot return.
            let stores = try database.all(
                "SELECT store, counts FROM purges WHERE request_id = ? ORDER BY position",
                [.id(id)]
            ) { row -> StoreName? in
                let counts = try PurgeCounts(columnText: row.text("counts"))
                return counts.isGivenUp ? nil : row.store("store")
            }.compactMap(\.self)
            return try database.first(
                "SELECT \(RequestRecord.cutoff) AS cutoff, rechecks FROM requests r WHERE id = ?",
                [.id(id)]
            ) { request in
                let returned = try [Recheck](columnText: request.textOrNil("rechecks"))
                    .filter { $0.outcome == .returned }
                let suspects = row.returnedAt == nil ? [] : returned.last?.found ?? []
                let back = suspects.map(\.store).filter { !stores.contains($0) }
                let table = FoundKeyTable(database: database)
                return DueRecheck(
                    sealed: row.sealed,
                    stage: row.stage,
                    openedAt: row.openedAt,
                    dueAt: row.dueAt,
                    cutoff: min(request.time("cutoff"), row.openedAt),
                    stores: stores + back,
                    suspects: suspects,
                    isReopened: row.isReopened,
                    isNameless: row.isNameless,
                    keyNames: row.isReopened ? try table.names(ofRecheck: id) : [],
                    returnedTo: Set(returned.flatMap(\.found).map(\.store))
                )
            }
        }
    }

    /// Records how rechecks ended, in one commit, and returns those that were recorded: not those
    /// whose record changed since it was read.
    package func endRechecks(_ ended: [EndedRecheck]) async throws -> [EndedRecheck] {
        let recorded = try await write { database, appender in
            let writer = RecheckWriter(database: database, appender: appender)
            return try ended.filter { try writer.end($0) }
        }
        // Until then the keys are in the write-ahead log.
        if recorded.contains(where: { $0.next == .closed }) { requestScrub() }
        return recorded
    }

    /// Reopens the records of deletions whose data returned after the last recheck, in one commit,
    /// and returns those that were recorded.
    ///
    /// Left are deletions with further rechecks, those whose rechecks an operator ended, and those
    /// that this state does not know. A reopened record takes on what else is found.
    package func reopenRechecks(
        _ returned: [ReturnedData],
        at now: WallTime
    ) async throws -> [ReturnedData] {
        let recorded = try await write { database, appender in
            let writer = RecheckWriter(database: database, appender: appender)
            return try returned.filter { try writer.reopen($0, at: now) }
        }
        if let due = recorded.compactMap(\.opened?.dueAt).min() { recheckAlarm.opened(dueAt: due) }
        return recorded
    }

    /// For an operator; returns `false` when there were none.
    package func abandonRecheck(
        of id: RequestID,
        by uid: UInt32,
        at now: WallTime,
        note: (name: String, text: String)
    ) async throws -> Bool {
        let wasOpen = try await write { database, appender in
            let writer = RecheckWriter(database: database, appender: appender)
            guard try writer.abandon(id, by: uid, at: now) else { return false }
            try database.setFact("note:" + note.name, to: note.text)
            return true
        }
        if wasOpen { requestScrub() }
        return wasOpen
    }

    /// Makes the next recheck due at once, for an operator who has repaired a store.
    package func recheckNow(_ id: RequestID, at now: WallTime) async throws {
        _ = try await writer.perform { database in
            let sql = "UPDATE rechecks SET due_at = ? WHERE request_id = ?"
            return try database.run(sql, [.time(now), .id(id)])
        }
        recheckAlarm.opened(dueAt: now)
    }

    /// Deletions with data that returned and is not known to be gone.
    package func returnedRecheckCount() async throws -> Int {
        try await read { try $0.int("SELECT count(*) FROM rechecks WHERE returned_at IS NOT NULL") }
    }

    // MARK: Rotation

    /// A page of the records that need one vault key, in the order of requests.
    package func sealedRechecks(
        under keyID: String,
        after last: RequestID?,
        limit: Int
    ) async throws -> [SealedRecheck] {
        try await all(
            RecheckColumn.self,
            """
            FROM rechecks WHERE request_id > ? AND key_id || '' = ?
            ORDER BY request_id LIMIT ?
            """,
            [.after(last), .text(keyID), .int(limit)]
        ) { try RecheckRow($0).sealed }
    }

    /// Replaces records by newly sealed ones in one commit and returns how many; lost ones stay
    /// lost.
    package func replaceRechecks(
        _ fresh: [(old: SealedRecheck, new: SealedRecheck)]
    ) async throws -> Int {
        try await change(
            fresh,
            """
            UPDATE rechecks SET key_id = ?, recheck_key = ?, sealed_user = ?
            WHERE request_id = ? AND recheck_key = ?
            """
        ) {
            [
                .text($0.new.keyID), .blob($0.new.recheckKey),
                .blob($0.new.sealedUser), .id($0.new.request),
                .blob($0.old.recheckKey),
            ]
        }
    }
}

/// Data of a deletion without further rechecks that a replay or a sample found.
package struct ReturnedData: Hashable, Sendable {
    package let request: RequestID
    package let found: [Recheck.Found]
    /// What further rechecks need; `nil` where none is possible, as without a vault key.
    package let opened: OpenedRecheck?
    /// Ids by which stores knew the user, unless they are stored.
    package let keys: [SealedKeys]
    /// Only ids of stores are known; ``opened`` names no user then.
    package let isNameless: Bool

    package init(
        request: RequestID,
        found: [Recheck.Found],
        opened: OpenedRecheck?,
        keys: [SealedKeys] = [],
        isNameless: Bool = false
    ) {
        (self.request, self.found, self.opened, self.keys) = (request, found, opened, keys)
        self.isNameless = isNameless
    }
}
