import Engine
import GRDB
import Ledger
package import Lifecycle

extension StateDatabase {
    /// Yields when ``dueRechecks(under:at:limit:)`` may return something new.
    package var recheckSignals: AsyncStream<Void> { recheckAlarm.signals }

    /// Sets when the next recheck is due, as far as is known; with `nil` every new one signals.
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

    /// Rechecks whose time has come, the longest due first of each vault key, and when the next one
    /// becomes due.
    ///
    /// `keyIDs` are the vault keys that can be used, or are known to be lost; other rechecks wait.
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
                        [.text(id), .time(now)]
                    ) { $0.timeOrNil() } ?? nil
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
            [.text(keyID), .time(now), .int(limit)]
        ) { try $0.requestID() }
        return try ids.compactMap { id in
            let targets = try database.all(
                "SELECT target FROM purges WHERE request_id = ? ORDER BY position",
                [.id(id)]
            ) { $0.target() }
            return try database.first(
                """
                SELECT c.recheck_key, c.sealed_user, c.stage, c.opened_at, c.due_at,
                  min(\(RequestRecord.cutoff), c.opened_at) AS cutoff, c.is_reopened,
                  c.is_nameless, c.returned_at IS NOT NULL AS is_returned, r.rechecks
                FROM rechecks c JOIN requests r ON r.id = c.request_id WHERE c.request_id = ?
                """,
                [.id(id)]
            ) { row in
                let returned = try RecheckText.decode(row.textOrNil("rechecks"))
                    .filter { $0.outcome == .returned }
                let suspects = row.bool("is_returned") ? returned.last?.found ?? [] : []
                let back = suspects.map(\.target).filter { !targets.contains($0) }
                let table = FoundKeyTable(database: database)
                return DueRecheck(
                    sealed: SealedRecheck(
                        request: id,
                        keyID: keyID,
                        recheckKey: row.blob("recheck_key"),
                        sealedUser: row.blob("sealed_user")
                    ),
                    stage: row.int("stage"),
                    openedAt: row.time("opened_at"),
                    dueAt: row.time("due_at"),
                    cutoff: row.time("cutoff"),
                    targets: targets + back,
                    suspects: suspects,
                    isReopened: row.bool("is_reopened"),
                    isNameless: row.bool("is_nameless"),
                    keyNames: row.bool("is_reopened") ? try table.names(ofRecheck: id) : [],
                    returnedTo: Set(returned.flatMap(\.found).map(\.target))
                )
            }
        }
    }

    /// Records how rechecks ended, all in one commit, and returns those that were recorded.
    ///
    /// A record that changed since it was read is left.
    package func endRechecks(_ ended: [EndedRecheck]) async throws -> [EndedRecheck] {
        let recorded = try await write { database, appender in
            let writer = RecheckWriter(database: database, appender: appender)
            return try ended.filter { try writer.end($0) }
        }
        // Until then the keys are still in the write-ahead log.
        if recorded.contains(where: { $0.next == .closed }) { requestScrub() }
        return recorded
    }

    /// Reopens the records of deletions whose data returned after the last recheck, in one commit,
    /// and returns those that were recorded.
    ///
    /// Left are deletions with further rechecks, those whose rechecks an operator ended, and those
    /// that an older state does not know. A reopened record takes on what else is found.
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

    /// Ends the rechecks of a deletion for an operator; returns `false` when there were none.
    package func abandonRecheck(
        of id: RequestID,
        by uid: UInt32,
        at now: WallTime
    ) async throws -> Bool {
        let wasOpen = try await write { database, appender in
            try RecheckWriter(database: database, appender: appender).abandon(id, by: uid, at: now)
        }
        if wasOpen { requestScrub() }
        return wasOpen
    }

    /// How many deletions have data that returned and is not known to be gone.
    package func returnedRecheckCount() async throws -> Int {
        try await read { database in
            try database.first("SELECT count(*) FROM rechecks WHERE returned_at IS NOT NULL") {
                $0.int()
            } ?? 0
        }
    }

    // MARK: Rotation

    /// A page of the records that need one vault key, in the order of requests.
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
                [last.map { .id($0.value) } ?? .blob([]), .text(keyID), .int(limit)]
            ) { row in
                SealedRecheck(
                    request: try row.requestID("request_id"),
                    keyID: keyID,
                    recheckKey: row.blob("recheck_key"),
                    sealedUser: row.blob("sealed_user")
                )
            }
        }
    }

    /// Replaces records by newly sealed ones, all in one commit; returns how many.
    ///
    /// A record that is gone stays gone.
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
                        [
                            .text(pair.new.keyID), .blob(pair.new.recheckKey),
                            .blob(pair.new.sealedUser), .id(pair.new.request),
                            .blob(pair.old.recheckKey),
                        ]
                    )
            }
        }
    }
}
