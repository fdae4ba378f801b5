package import Engine
import GRDB
import Ledger
package import Lifecycle

/// A case whose time has come.
package struct DueCase: Hashable, Sendable {
    package let sealed: SealedCase
    /// How many looks were there since it was opened.
    package let stage: Int
    /// When the deletion completed, or data came back.
    package let openedAt: WallTime
    package let dueAt: WallTime
    /// Only rows not newer than this are meant: the fence of the purge.
    package let fence: WallTime
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
package struct DueCases: Sendable {
    package let cases: [DueCase]
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

    package let due: DueCase
    /// `nil` when a store could not be asked.
    package let recheck: Recheck?
    package let next: Next

    package init(_ due: DueCase, _ recheck: Recheck?, next: Next) {
        self.due = due
        self.recheck = recheck
        self.next = next
    }
}

extension StateDatabase {
    /// Yields when ``dueCases(under:at:limit:)`` may have something new to say.
    package var caseSignals: AsyncStream<Void> { caseAlarm.signals }

    /// Sets when the next case is due, as far as is known; `nil` has every new one told.
    package func expectCase(at time: WallTime?) { caseAlarm.expect(time) }

    /// Has ``caseSignals`` yield.
    package func wakeCases() { caseAlarm.wake() }

    func expectCases(of changes: [StateChange]) {
        var earliest: WallTime?
        for case .openCase(let opened) in changes {
            earliest = min(earliest ?? opened.dueAt, opened.dueAt)
        }
        if let earliest { caseAlarm.opened(dueAt: earliest) }
    }

    /// Cases whose time has come, the longest due first of each vault key.
    ///
    /// - Parameters:
    ///   - keyIDs: The vault keys that can be used, or are known to be lost; other cases wait.
    ///   - now: Cases due after it are left.
    ///   - limit: The most to return.
    /// - Returns: The cases, and when the next one becomes due.
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func dueCases(
        under keyIDs: [String],
        at now: WallTime,
        limit: Int
    ) async throws -> DueCases {
        try await read { database in
            var due: [DueCase] = []
            var nextDueAt: WallTime?
            for id in keyIDs {
                due += try Self.dueCases(under: id, at: now, limit: limit - due.count, database)
                let next =
                    try database.first(
                        "SELECT min(due_at) FROM cases WHERE key_id = ? AND due_at > ?",
                        .text(id),
                        .time(now)
                    ) { $0.timeOrNil(0) } ?? nil
                if let next { nextDueAt = min(nextDueAt ?? next, next) }
            }
            return DueCases(cases: due, nextDueAt: nextDueAt)
        }
    }

    private static func dueCases(
        under keyID: String,
        at now: WallTime,
        limit: Int,
        _ database: Database
    ) throws -> [DueCase] {
        guard limit > 0 else { return [] }
        let ids = try database.all(
            """
            SELECT request_id FROM cases INDEXED BY cases_due
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
                SELECT c.case_key, c.sealed_user, c.stage, c.opened_at, c.due_at,
                  min(\(RequestRow.fence), c.opened_at), ifnull(c.is_reopened, 0),
                  ifnull(c.is_nameless, 0), c.returned_at IS NOT NULL, r.rechecks
                FROM cases c JOIN requests r ON r.id = c.request_id WHERE c.request_id = ?
                """,
                .id(id.value)
            ) { row in
                let returned = try RecheckText.decode(row.textOrNil(9))
                    .filter { $0.outcome == .returned }
                let suspects = row.bool(8) ? returned.last?.found ?? [] : []
                let back = suspects.map(\.target).filter { !targets.contains($0) }
                let table = FoundKeyTable(database: database)
                return DueCase(
                    sealed: SealedCase(
                        request: id,
                        keyID: keyID,
                        caseKey: row.blob(0),
                        sealedUser: row.blob(1)
                    ),
                    stage: row.int(2),
                    openedAt: row.time(3),
                    dueAt: row.time(4),
                    fence: row.time(5),
                    targets: targets + back,
                    suspects: suspects,
                    isReopened: row.bool(6),
                    isNameless: row.bool(7),
                    keyNames: row.bool(6) ? try table.names(ofCase: id) : [],
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
        let pen = pen
        let recorded = try await writer.perform { database in
            let writer = CaseWriter(database: database, pen: pen)
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
    package func reopenCases(
        _ returned: [ReturnedData],
        at now: WallTime
    ) async throws -> [ReturnedData] {
        let pen = pen
        let recorded = try await writer.perform { database in
            let writer = CaseWriter(database: database, pen: pen)
            return try returned.filter { try writer.reopen($0, at: now) }
        }
        if let due = recorded.compactMap(\.opened?.dueAt).min() { caseAlarm.opened(dueAt: due) }
        return recorded
    }

    /// Closes a case because an operator does not want to look again.
    ///
    /// - Returns: `false` when there was none.
    /// - Throws: ``StorageError``: nothing was changed.
    package func abandonCase(
        of id: RequestID,
        by uid: UInt32,
        at now: WallTime
    ) async throws -> Bool {
        let pen = pen
        let wasOpen = try await writer.perform { database in
            try CaseWriter(database: database, pen: pen).abandon(id, by: uid, at: now)
        }
        if wasOpen { requestScrub() }
        return wasOpen
    }

    /// How many deletions have data that came back and was not seen to go since.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func returnedCaseCount() async throws -> Int {
        try await read { database in
            try database.first("SELECT count(*) FROM cases WHERE returned_at IS NOT NULL") {
                $0.int(0)
            } ?? 0
        }
    }

    // MARK: Rotation

    /// A page of the cases that need one vault key, in the order of requests.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func sealedCases(
        under keyID: String,
        after last: RequestID?,
        limit: Int
    ) async throws -> [SealedCase] {
        try await read { database in
            try database.all(
                """
                SELECT request_id, case_key, sealed_user FROM cases
                WHERE request_id > ? AND +key_id = ? ORDER BY request_id LIMIT ?
                """,
                last.map { .id($0.value) } ?? .blob([]),
                .text(keyID),
                .int(limit)
            ) { row in
                SealedCase(
                    request: try row.requestID(0),
                    keyID: keyID,
                    caseKey: row.blob(1),
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
    package func replaceCases(_ fresh: [(old: SealedCase, new: SealedCase)]) async throws -> Int {
        try await writer.perform { database in
            try fresh.reduce(0) { count, pair in
                try count
                    + database.run(
                        """
                        UPDATE cases SET key_id = ?, case_key = ?, sealed_user = ?
                        WHERE request_id = ? AND case_key = ?
                        """,
                        .text(pair.new.keyID),
                        .blob(pair.new.caseKey),
                        .blob(pair.new.sealedUser),
                        .id(pair.new.request.value),
                        .blob(pair.old.caseKey)
                    )
            }
        }
    }
}
