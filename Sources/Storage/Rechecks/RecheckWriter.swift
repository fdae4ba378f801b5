import Engine
import Ledger
import Lifecycle

/// Writes recheck records: opens, changes and closes them.
struct RecheckWriter {
    let database: any StateConnection
    let appender: LedgerAppender

    static func open(_ opened: OpenedRecheck, _ database: any StateConnection) throws {
        try database.run(
            RecheckColumn.insertion,
            RecheckColumn.row([
                .requestID: .id(opened.sealed.request), .keyID: .text(opened.sealed.keyID),
                .recheckKey: .blob(opened.sealed.recheckKey),
                .sealedUser: .blob(opened.sealed.sealedUser), .stage: .int(0 as Int),
                .openedAt: .time(opened.openedAt), .dueAt: .time(opened.dueAt),
                .isReopened: .bool(false), .isNameless: .bool(false),
            ])
        )
    }

    /// Returns `false` for a record that changed since it was read.
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
            let known = try RecheckRow.find(id, database)
            changed = try database.run(
                """
                UPDATE rechecks SET due_at = ?3, stage = ?4, opened_at = ?5, returned_at = ?6
                WHERE request_id = ?1 AND due_at = ?2
                """,
                [
                    .id(id), .time(ended.due.dueAt), .time(dueAt), .int(stage),
                    .time(openedAt), .time(ended.returnedSince(known?.returnedAt)),
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
        let rechecks = try database.first(
            "SELECT rechecks FROM requests WHERE id = ? AND phase = 'completed'",
            [.id(id)]
        ) { try [Recheck](columnText: $0.textOrNil()) }
        guard let rechecks else { return false }
        let known = try RecheckRow.find(id, database)
        let found = KnownRecheck(
            rechecks: rechecks,
            isOpen: known != nil,
            isReopened: known?.isReopened ?? false,
            isNameless: known?.isNameless ?? false,
            isReturned: known?.returnedAt != nil
        ).found(
            with: returned.found,
            isNameless: returned.isNameless,
            hasNewKeys: !returned.keys.isEmpty,
            canReopen: returned.opened != nil
        )
        guard let found else { return false }
        if let opened = returned.opened {
            if known?.isNameless ?? false, !returned.isNameless {
                // It was opened without a user.
                try database.run("DELETE FROM rechecks WHERE request_id = ?", [.id(id)])
            }
            try Self.open(opened, database)
            try database.run(
                """
                UPDATE rechecks SET returned_at = coalesce(returned_at, ?2), is_reopened = 1,
                  is_nameless = ?3, stage = 0, opened_at = ?4, due_at = ?5
                WHERE request_id = ?1
                """,
                [
                    .id(id), .time(now),
                    .bool(returned.isNameless && known?.isNameless ?? true),
                    .time(opened.openedAt), .time(opened.dueAt),
                ]
            )
            let table = FoundKeyTable(database: database)
            for keys in returned.keys { try table.insert(keys, isLate: false) }
        }
        try note(Recheck(at: now, .returned, found: found), of: id)
        return true
    }

    /// For an operator; returns whether there were any.
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
        ) { try [Recheck](columnText: $0.textOrNil()) }
        try database.run(
            "UPDATE requests SET rechecks = ?, leaves = leaves || ? WHERE id = ?",
            [
                .text(((known ?? []) + [recheck]).columnText),
                .text(leaves(recheck, of: id, uid: uid)), .id(id),
            ]
        )
    }

    private func leaves(_ recheck: Recheck, of id: RequestID, uid: UInt32?) -> String {
        let leaves = RequestLeaves(appender: appender)
        guard recheck.outcome == .returned else {
            let by = uid.map { [(LedgerEntry.Key.uid, LedgerEntry.Value.number(Int64($0)))] } ?? []
            let outcome = LedgerEntry.Value.word(recheck.outcome.rawValue)
            return leaves.write(recheck.at, "rechecked", of: id, [(.detail, outcome)] + by)
        }
        return recheck.found.map { found in
            leaves.write(
                recheck.at,
                "returned",
                of: id,
                [
                    (.store, .word(found.store.rawValue)),
                    (.rows, .number(Int64(found.rowCount))),
                ]
            )
        }.joined()
    }
}

enum RecheckColumn: Int32, Columns {
    case requestID, keyID, recheckKey, sealedUser, stage, openedAt, dueAt, returnedAt
    case isReopened, isNameless

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "rechecks") + " ON CONFLICT DO NOTHING"
}

struct RecheckRow {
    let sealed: SealedRecheck
    let stage: Int
    let openedAt: WallTime
    let dueAt: WallTime
    let returnedAt: WallTime?
    let isReopened: Bool
    let isNameless: Bool

    static func find(_ id: RequestID, _ database: any StateConnection) throws -> RecheckRow? {
        try database.first(
            RecheckColumn.self,
            "FROM rechecks WHERE request_id = ?",
            [.id(id)],
            body: RecheckRow.init
        )
    }

    init(_ row: Row<RecheckColumn>) throws {
        sealed = SealedRecheck(
            request: try row.requestID(.requestID),
            keyID: row.text(.keyID),
            recheckKey: row.blob(.recheckKey),
            sealedUser: row.blob(.sealedUser)
        )
        stage = row.int(.stage)
        (openedAt, dueAt) = (row.time(.openedAt), row.time(.dueAt))
        returnedAt = row.timeOrNil(.returnedAt)
        (isReopened, isNameless) = (row.bool(.isReopened), row.bool(.isNameless))
    }
}
