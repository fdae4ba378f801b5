package import Engine
import GRDB
import Ledger
package import Lifecycle

/// A case whose time has come.
package struct DueRecheck: Hashable, Sendable {
    package let sealed: SealedRecheck
    /// How many looks were there since it was opened.
    package let stage: Int
    /// When the deletion completed, or data came back.
    package let openedAt: WallTime
    package let dueAt: WallTime
    /// Only rows not newer than this are meant: the cutoff of the purge.
    package let cutoff: WallTime
    /// What the deletion purged, and what data came back to.
    package let targets: [TargetName]
    /// Where data came back to, as far as is known; empty while none is.
    package let suspects: [Recheck.Found]
    /// After the last look: the ids that other stores knew the user by are gone since then, but
    /// for those that were found again.
    package let isReopened: Bool
    /// Of a reopened case: the user is not known, only ids of ``keyNames``.
    package let isNameless: Bool
    /// Of a reopened case: under which names ids were found again.
    package let keyNames: [KeyName]
    /// Where data was found by any look so far.
    package let returnedTo: Set<TargetName>
}

/// One look at the cases.
package struct DueRechecks: Sendable {
    package let cases: [DueRecheck]
    /// When the next one becomes due that was not due yet; `nil` when there is none.
    package let nextDueAt: WallTime?
}

/// How a look at a case ended.
package struct EndedRecheck: Hashable, Sendable {
    /// What comes now.
    package enum Next: Hashable, Sendable {
        case due(WallTime, stage: Int, openedAt: WallTime)
        /// Nobody looks again: the key is destroyed.
        case closed
    }

    package let due: DueRecheck
    /// `nil` when a store could not be asked.
    package let recheck: Recheck?
    package let next: Next

    package init(_ due: DueRecheck, _ recheck: Recheck?, next: Next) {
        self.due = due
        self.recheck = recheck
        self.next = next
    }
}

extension StateDatabase {
    /// Yields when ``dueRechecks(under:at:limit:)`` may have something new to say.
    package var recheckSignals: AsyncStream<Void> { recheckAlarm.signals }

    /// Sets when the next case is due, as far as is known; `nil` has every new one told.
    package func expectRecheck(at time: WallTime?) { recheckAlarm.expect(time) }

    /// Has ``recheckSignals`` yield.
    package func wakeRechecks() { recheckAlarm.wake() }

    func expectRecheck(of changes: [StateChange]) {
        var earliest: WallTime?
        for case .openRecheck(let opened) in changes {
            earliest = min(earliest ?? opened.dueAt, opened.dueAt)
        }
        if let earliest { recheckAlarm.opened(dueAt: earliest) }
    }

    /// Cases whose time has come, the longest due first of each vault key.
    ///
    /// - Parameters:
    ///   - keyIDs: The vault keys that can be used, or are known to be lost; other cases wait.
    ///   - now: Cases due after it are left.
    ///   - limit: The most to return.
    /// - Returns: The cases, and when the next one becomes due.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
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
                let next =
                    try database.first(
                        "SELECT min(due_at) FROM rechecks WHERE key_id = ? AND due_at > ?",
                        .text(id),
                        .time(now)
                    ) { $0.timeOrNil(0) } ?? nil
                if let next { nextDueAt = min(nextDueAt ?? next, next) }
            }
            return DueRechecks(cases: due, nextDueAt: nextDueAt)
        }
    }

    private static func dueRechecks(
        under keyID: String,
        at now: WallTime,
        limit: Int,
        _ database: Database
    ) throws -> [DueRecheck] {
        guard limit > 0 else { return [] }
        let ids = try database.all(
            """
            SELECT request_id FROM rechecks INDEXED BY rechecks_due
            WHERE key_id = ? AND due_at <= ? ORDER BY due_at LIMIT ?
            """,
            .text(keyID),
            .time(now),
            .int(limit)
        ) { try $0.requestID(0) }
        return try ids.compactMap { id in
            let targets = try database.all(
                "SELECT target FROM purges WHERE request_id = ? ORDER BY position",
                .id(id.value)
            ) { TargetName($0.text(0)) }
            return try database.first(
                """
                SELECT c.recheck_key, c.sealed_user, c.stage, c.opened_at, c.due_at,
                  min(\(RequestRow.cutoff), c.opened_at), c.is_reopened,
                  c.is_nameless, c.returned_at IS NOT NULL, r.rechecks
                FROM rechecks c JOIN requests r ON r.id = c.request_id WHERE c.request_id = ?
                """,
                .id(id.value)
            ) { row in
                let returned = try RecheckText.decode(row.textOrNil(9))
                    .filter { $0.outcome == .returned }
                let suspects = row.bool(8) ? returned.last?.found ?? [] : []
                let back = suspects.map(\.target).filter { !targets.contains($0) }
                let table = FoundKeyTable(database: database)
                return DueRecheck(
                    sealed: SealedRecheck(
                        request: id,
                        keyID: keyID,
                        recheckKey: row.blob(0),
                        sealedUser: row.blob(1)
                    ),
                    stage: row.int(2),
                    openedAt: row.time(3),
                    dueAt: row.time(4),
                    cutoff: row.time(5),
                    targets: targets + back,
                    suspects: suspects,
                    isReopened: row.bool(6),
                    isNameless: row.bool(7),
                    keyNames: row.bool(6) ? try table.names(ofRecheck: id) : [],
                    returnedTo: Set(returned.flatMap(\.found).map(\.target))
                )
            }
        }
    }

    /// Records what looking brought, all in one commit; a case that moved on meanwhile is left.
    ///
    /// - Returns: Those that were recorded.
    /// - Throws: ``StorageError``: nothing was recorded.
    package func endRechecks(_ ended: [EndedRecheck]) async throws -> [EndedRecheck] {
        let appender = appender
        let recorded = try await writer.perform { database in
            let writer = RecheckWriter(database: database, appender: appender)
            return try ended.filter { try writer.end($0) }
        }
        // Until then the keys are still in the write-ahead log.
        if recorded.contains(where: { $0.next == .closed }) { requestScrub() }
        return recorded
    }

    /// Opens the cases of deletions anew whose data came back after the last look, in one commit.
    ///
    /// A deletion whose case is open has looks of its own, one that an operator ended has none any
    /// more, and one that an older state does not know has no row to write to: these are left. A
    /// case that was opened anew takes on what else is found.
    ///
    /// - Returns: Those that were recorded.
    /// - Throws: ``StorageError``: nothing was recorded.
    package func reopenRechecks(
        _ returned: [ReturnedData],
        at now: WallTime
    ) async throws -> [ReturnedData] {
        let appender = appender
        let recorded = try await writer.perform { database in
            let writer = RecheckWriter(database: database, appender: appender)
            return try returned.filter { try writer.reopen($0, at: now) }
        }
        if let due = recorded.compactMap(\.opened?.dueAt).min() { recheckAlarm.opened(dueAt: due) }
        return recorded
    }

    /// Closes a case because an operator does not want to look again.
    ///
    /// - Returns: `false` when there was none.
    /// - Throws: ``StorageError``: nothing was changed.
    package func abandonRecheck(
        of id: RequestID,
        by uid: UInt32,
        at now: WallTime
    ) async throws -> Bool {
        let appender = appender
        let wasOpen = try await writer.perform { database in
            try RecheckWriter(database: database, appender: appender).abandon(id, by: uid, at: now)
        }
        if wasOpen { requestScrub() }
        return wasOpen
    }

    /// How many deletions have data that came back and was not seen to go since.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func returnedRecheckCount() async throws -> Int {
        try await read { database in
            try database.first("SELECT count(*) FROM rechecks WHERE returned_at IS NOT NULL") {
                $0.int(0)
            } ?? 0
        }
    }

    // MARK: Rotation

    /// A page of the cases that need one vault key, in the order of requests.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func sealedRechecks(
        under keyID: String,
        after last: RequestID?,
        limit: Int
    ) async throws -> [SealedRecheck] {
        try await read { database in
            try database.all(
                """
                SELECT request_id, recheck_key, sealed_user FROM rechecks
                WHERE request_id > ? AND +key_id = ? ORDER BY request_id LIMIT ?
                """,
                last.map { .id($0.value) } ?? .blob([]),
                .text(keyID),
                .int(limit)
            ) { row in
                SealedRecheck(
                    request: try row.requestID(0),
                    keyID: keyID,
                    recheckKey: row.blob(1),
                    sealedUser: row.blob(2)
                )
            }
        }
    }

    /// Stores cases that were sealed anew, all in one commit; one that is closed by now stays so.
    ///
    /// - Parameter fresh: With the case key that each replaces.
    /// - Returns: How many were stored.
    /// - Throws: ``StorageError``: nothing was stored.
    package func replaceRechecks(
        _ fresh: [(old: SealedRecheck, new: SealedRecheck)]
    ) async throws -> Int {
        try await writer.perform { database in
            try fresh.reduce(0) { count, pair in
                try count
                    + database.run(
                        """
                        UPDATE rechecks SET key_id = ?, recheck_key = ?, sealed_user = ?
                        WHERE request_id = ? AND recheck_key = ?
                        """,
                        .text(pair.new.keyID),
                        .blob(pair.new.recheckKey),
                        .blob(pair.new.sealedUser),
                        .id(pair.new.request.value),
                        .blob(pair.old.recheckKey)
                    )
            }
        }
    }
}
