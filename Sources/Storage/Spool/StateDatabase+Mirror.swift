package import Engine
package import Lifecycle

/// What a row of the spool shows to its application.
package struct MirrorRow: Hashable, Sendable {
    package let spoolID: String
    package let spoolRow: Int64
    /// `nil` for a row that was rejected.
    package let requestID: RequestID?
    package let state: RequestState
    /// Why it is parked, rejected or cancelled, as a code.
    package let detail: String?
    package let updatedAt: WallTime
    /// The deletion has completed: the row's user id, key and options must go.
    package let isErased: Bool
    /// Pass it back unchanged.
    package let revision: Int
    /// Keyed hash of the imported input columns, which the row must still have.
    package let fingerprint: [UInt8]
}

extension StateDatabase {
    /// Ended requests go first, then open ones, each from the oldest: a backlog shows its results.
    ///
    /// All rows of one request come together. A row of a spool that is gone comes too.
    package func spoolMirrorRows(
        limit: Int,
        of share: MirrorShare = .all
    ) async throws -> [MirrorRow] {
        try await read { try Self.mirrorRows(limit: limit, MirrorSQL(share), $0) }
    }

    private static func mirrorRows(
        limit: Int,
        _ sql: MirrorSQL,
        _ database: any StateConnection
    ) throws -> [MirrorRow] {
        var rows = try rejectedRows(sql.rejected, limit: limit, database)
        rows += try changedRows(sql.shownElsewhere, limit: limit - rows.count, database)
        rows += try changedRows(sql.ended, limit: limit - rows.count, database)
        // While results wait, open requests may take a sixteenth: most will have ended by the next
        // commit, and would be shown twice.
        let room = rows.isEmpty ? limit : min(limit - rows.count, limit / 16)
        return try rows + changedRows(sql.open, limit: room, database)
    }

    private static func rejectedRows(
        _ sql: String,
        limit: Int,
        _ database: any StateConnection
    ) throws -> [MirrorRow] {
        try database.all(sql, [.int(limit)]) { row in
            MirrorRow(
                spoolID: row.text("spool_id"),
                spoolRow: row.int64("row_id"),
                requestID: nil,
                state: .rejected,
                detail: row.text("reject_reason"),
                updatedAt: row.time("imported_at"),
                isErased: false,
                revision: 0,
                fingerprint: row.blob("fingerprint")
            )
        }
    }

    private static func changedRows(
        _ sql: String,
        limit: Int,
        _ database: any StateConnection
    ) throws -> [MirrorRow] {
        guard limit > 0 else { return [] }
        return try database.all(MirrorColumn.self, sql, [.int(limit)]) { row in
            let isParked = !row.isNull(.parkReason)
            let state = isParked ? .parked : try row.choice(.phase, as: RequestState.self)
            let isEnded = state == .completed || state == .cancelled
            return MirrorRow(
                spoolID: row.text(.spoolID),
                spoolRow: row.int64(.rowID),
                requestID: try row.requestID(.id),
                state: state,
                detail: row.textOrNil(isEnded ? .endDetail : .parkReason),
                updatedAt: row.time(.updatedAt),
                isErased: state == .completed && row.text(.kind) == "delete_account",
                revision: row.int(.revision),
                fingerprint: row.blob(.fingerprint)
            )
        }
    }

    private enum MirrorColumn: Int32, Columns {
        case spoolID, rowID, fingerprint
        case id, revision, phase, parkReason, kind, endDetail, updatedAt

        static let selection = makeSelection()
    }

    /// A row that changed since comes again.
    package func confirmMirrored(
        _ rows: [MirrorRow],
        of share: MirrorShare = .all
    ) async throws {
        guard !rows.isEmpty else { return }
        let sql = MirrorSQL(share)
        try await writer.perform { database in
            let isAlone = try share == .all && !database.has(MirrorSQL.hasMarks)
            for row in rows {
                guard let id = row.requestID else {
                    try database.run(
                        """
                        UPDATE imports SET is_unmirrored = 0
                        WHERE spool_id = ? AND source = 'requests' AND row_id = ?
                        """,
                        [.text(row.spoolID), .int(row.spoolRow)]
                    )
                    continue
                }
                let changedCount = try database.run(
                    """
                    UPDATE requests SET mirrored_revision = revision
                    WHERE id = ? AND revision = ? AND mirrored_revision < revision
                    """,
                    [.id(id), .int(row.revision)]
                )
                guard !isAlone else { continue }
                if changedCount > 0 { try database.run(sql.markOthers, [.id(id)]) }
                try database.run(
                    sql.unmark,
                    [
                        .text(row.spoolID), .int(row.spoolRow), .blob(row.fingerprint), .id(id),
                        .int(row.revision),
                    ]
                )
            }
        }
    }

    /// Whether no commit, checkpoint or scrub is under way or waits.
    package var isQuiet: Bool { writer.isIdle }

    /// For rows that were imported before: their file was restored.
    package func mirrorAgain(_ rows: [SpoolRow]) async throws {
        guard !rows.isEmpty else { return }
        try await writer.perform { database in
            for row in rows {
                try database.run(
                    """
                    UPDATE imports SET is_current = CASE WHEN fingerprint = ?3 THEN 1 ELSE 0 END,
                      is_unmirrored = CASE WHEN fingerprint = ?3 AND reject_reason IS NOT NULL
                        THEN 1 ELSE 0 END
                    WHERE spool_id = ?1 AND source = 'requests' AND row_id = ?2
                    """,
                    [.text(row.spoolID), .int(row.rowID), .blob(row.fingerprint)]
                )
                try database.run(
                    """
                    UPDATE requests SET mirrored_revision = 0 WHERE id = (
                      SELECT request_id FROM imports WHERE spool_id = ?1 AND source = 'requests'
                        AND row_id = ?2 AND fingerprint = ?3)
                    """,
                    [.text(row.spoolID), .int(row.rowID), .blob(row.fingerprint)]
                )
            }
        }
    }

    /// How many of the rows were imported before with another content.
    package func countRecreated(
        requests: [SpoolRow],
        credentials: [SpoolRow]
    ) async throws -> Int {
        try await read { database in
            let first = SpoolImports(database: database, source: .requests)
            let second = SpoolImports(database: database, source: .credentials)
            return try requests.count { try first.known(of: $0).hasOther }
                + credentials.count { try second.known(of: $0).hasOther }
        }
    }
}
