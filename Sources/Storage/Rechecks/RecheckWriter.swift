import Engine
import GRDB
import Ledger
import Lifecycle

/// Writes recheck records: opens, changes and closes them.
struct RecheckWriter {
    let database: Database
    let appender: LedgerAppender

    /// The vault keys that records need; one seek in the index for each.
    static let keyIDs = """
        WITH RECURSIVE recheck_keys (id) AS (
          SELECT min(key_id) FROM rechecks
          UNION ALL
          SELECT (SELECT min(key_id) FROM rechecks WHERE key_id > recheck_keys.id) FROM recheck_keys
          WHERE recheck_keys.id IS NOT NULL
        )
        SELECT id FROM recheck_keys WHERE id IS NOT NULL
        """

    static func open(_ opened: OpenedRecheck, _ database: Database) throws {
        try database.run(
            """
            INSERT OR IGNORE INTO rechecks
              (request_id, key_id, recheck_key, sealed_user, stage, opened_at, due_at)
            VALUES (?, ?, ?, ?, 0, ?, ?)
            """,
            [
                .id(opened.sealed.request), .text(opened.sealed.keyID),
                .blob(opened.sealed.recheckKey), .blob(opened.sealed.sealedUser),
                .time(opened.openedAt), .time(opened.dueAt),
            ]
        )
    }

    /// Records how a recheck ended; returns `false` for a record that changed since it was read.
    func end(_ ended: EndedRecheck) throws -> Bool {
        let id = ended.due.sealed.request
        let changed: Int
        switch ended.next {
        case .closed:
            changed = try database.run(
                "DELETE FROM rechecks WHERE request_id = ? AND due_at = ?",
                [.id(id), .time(ended.due.dueAt)]
            )
        case .due(let dueAt, let stage, let openedAt):
            changed = try database.run(
                """
                UPDATE rechecks SET due_at = ?3, stage = ?4, opened_at = ?5,
                  returned_at = CASE ?6 WHEN 'returned' THEN ifnull(returned_at, ?7)
                    WHEN 'clean' THEN NULL ELSE returned_at END
                WHERE request_id = ?1 AND due_at = ?2
                """,
                [
                    .id(id), .time(ended.due.dueAt), .time(dueAt), .int(stage),
                    .time(openedAt), .text(ended.recheck?.outcome.rawValue),
                    .time(ended.recheck?.at),
                ]
            )
        }
        guard changed > 0 else { return false }
        if ended.next == .closed { try FoundKeyTable(database: database).forget(recheckOf: id) }
        if let recheck = ended.recheck { try note(recheck, of: id) }
        return true
    }

    /// Records that data returned, and has it checked again; returns whether it did.
    func reopen(_ returned: ReturnedData, at now: WallTime) throws -> Bool {
        let id = returned.request
        let known = try database.first(
            """
            SELECT r.rechecks, c.request_id IS NOT NULL AS is_open,
              ifnull(c.is_reopened, 0) AS is_reopened, ifnull(c.is_nameless, 0) AS is_nameless,
              c.returned_at IS NOT NULL AS is_returned
            FROM requests r LEFT JOIN rechecks c ON c.request_id = r.id
            WHERE r.id = ? AND r.phase = 'completed'
            """,
            [.id(id)]
        ) { row in
            (
                rechecks: try RecheckText.decode(row.textOrNil("rechecks")),
                isOpen: row.bool("is_open"),
                isReopened: row.bool("is_reopened"), isNameless: row.bool("is_nameless"),
                isReturned: row.bool("is_returned")
            )
        }
        guard let known, known.rechecks.last?.outcome != .abandoned else { return false }
        var found = returned.found
        if known.isOpen {
            let last = known.rechecks.last { $0.outcome == .returned }?.found ?? []
            let before = known.isReturned ? last : []
            let isNew =
                !returned.keys.isEmpty || (known.isNameless && !returned.isNameless)
                || !found.allSatisfy { found in before.contains { $0.target == found.target } }
            guard known.isReopened, isNew, returned.opened != nil else { return false }
            // What was not found this time is still to be checked.
            found += before.filter { old in !found.contains { $0.target == old.target } }
        }
        if let opened = returned.opened {
            if known.isNameless, !returned.isNameless {
                // It was opened without a user.
                try database.run("DELETE FROM rechecks WHERE request_id = ?", [.id(id)])
            }
            try Self.open(opened, database)
            try database.run(
                """
                UPDATE rechecks SET returned_at = ifnull(returned_at, ?2), is_reopened = 1,
                  is_nameless = ?3, stage = 0, opened_at = ?4, due_at = ?5
                WHERE request_id = ?1
                """,
                [
                    .id(id), .time(now),
                    .bool(returned.isNameless && (known.isNameless || !known.isOpen)),
                    .time(opened.openedAt), .time(opened.dueAt),
                ]
            )
            let table = FoundKeyTable(database: database)
            for keys in returned.keys { try table.insert(keys, isLate: false) }
        }
        try note(Recheck(at: now, .returned, found: found), of: id)
        return true
    }

    /// Ends the rechecks for an operator; returns whether there were any.
    func abandon(_ id: RequestID, by uid: UInt32, at now: WallTime) throws -> Bool {
        let changed = try database.run("DELETE FROM rechecks WHERE request_id = ?", [.id(id)])
        guard changed > 0 else { return false }
        try FoundKeyTable(database: database).forget(recheckOf: id)
        try note(Recheck(at: now, .abandoned), of: id, uid: uid)
        return true
    }

    private func note(_ recheck: Recheck, of id: RequestID, uid: UInt32? = nil) throws {
        let known = try database.first(
            "SELECT rechecks FROM requests WHERE id = ?",
            [.id(id)]
        ) { try RecheckText.decode($0.textOrNil()) }
        try database.run(
            "UPDATE requests SET rechecks = ?, leaves = leaves || ? WHERE id = ?",
            [
                .text(RecheckText.encode((known ?? []) + [recheck])),
                .text(leaves(recheck, of: id, uid: uid)), .id(id),
            ]
        )
    }

    private func leaves(_ recheck: Recheck, of id: RequestID, uid: UInt32?) -> String {
        let leaves = RequestLeaves(appender: appender)
        guard recheck.outcome == .returned else {
            var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
                (.event, .word("rechecked")), (.request, .id(id.value)),
                (.detail, .word(recheck.outcome.rawValue)),
            ]
            if let uid { values.append((.uid, .number(Int64(uid)))) }
            return leaves.write(recheck.at, values)
        }
        return recheck.found.map { found in
            leaves.write(
                recheck.at,
                [
                    (.event, .word("returned")), (.request, .id(id.value)),
                    (.target, .word(LedgerEntry.plain(found.target.rawValue))),
                    (.rows, .number(Int64(found.rowCount))),
                ]
            )
        }.joined()
    }
}
