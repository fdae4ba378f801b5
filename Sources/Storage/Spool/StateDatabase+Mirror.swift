import Engine
import GRDB
package import Lifecycle

/// What a row of the spool shows to its application.
package struct MirrorRow: Hashable, Sendable {
    package let spoolID: String
    package let spoolRow: Int64
    /// `nil` for a row that was rejected.
    package let requestID: RequestID?
    package let state: WireState
    /// Why it is parked, rejected or cancelled, as a code.
    package let detail: String?
    package let updatedAt: WallTime
    /// The deletion has completed: the row's user id, key and options must go.
    package let isErased: Bool
    /// Pass it back unchanged.
    package let revision: Int
}

extension StateDatabase {
    /// Rows whose spool shows something older than the state.
    ///
    /// Ended requests go first, then open ones, each from the oldest: a backlog that is worked off
    /// shows its results, and what is on its way is shown once there is room. All rows of one
    /// request come together. A row of a spool that is gone comes too: confirm it unwritten.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func mirrorBatch(limit: Int) async throws -> [MirrorRow] {
        try await spoolMirrorRows(limit: limit).map(\.row)
    }

    /// As ``mirrorBatch(limit:)``, with the content that was imported.
    static func mirrorRows(limit: Int, _ database: Database) throws -> [SpoolMirrorRow] {
        var rows = try rejectedRows(limit: limit, database)
        rows += try changedRows(endedSQL, limit: limit - rows.count, database)
        // While results wait, what is still on its way may take a sixteenth: most of it will have
        // ended by the next commit, and would be shown twice.
        let room = rows.isEmpty ? limit : min(limit - rows.count, limit / 16)
        return try rows + changedRows(openSQL, limit: room, database)
    }

    private static func rejectedRows(
        limit: Int,
        _ database: Database
    ) throws -> [SpoolMirrorRow] {
        try database.all(
            """
            SELECT spool_id, row_id, reject_reason, imported_at, fingerprint FROM imports
            WHERE is_unmirrored = 1 ORDER BY imported_at LIMIT ?
            """,
            .int(limit)
        ) { row in
            SpoolMirrorRow(
                row: MirrorRow(
                    spoolID: row.text(0),
                    spoolRow: Int64(row.int(1)),
                    requestID: nil,
                    state: .rejected,
                    detail: row.text(2),
                    updatedAt: row.time(3),
                    isErased: false,
                    revision: 0
                ),
                fingerprint: row.blob(4)
            )
        }
    }

    private static func changedRows(
        _ sql: String,
        limit: Int,
        _ database: Database
    ) throws -> [SpoolMirrorRow] {
        guard limit > 0 else { return [] }
        return try database.all(sql, .int(limit)) { row in
            let state = try RequestRow.wireState(row, phase: 4, parkReason: 5)
            let isEnded = state == .completed || state == .cancelled
            return SpoolMirrorRow(
                row: MirrorRow(
                    spoolID: row.text(0),
                    spoolRow: Int64(row.int(1)),
                    requestID: try row.requestID(8),
                    state: state,
                    detail: isEnded ? row.textOrNil(7) : row.textOrNil(5),
                    updatedAt: row.time(9),
                    isErased: state == .completed && row.text(6) == "delete_account",
                    revision: row.int(3)
                ),
                fingerprint: row.blob(2)
            )
        }
    }

    private static let endedSQL = changedSQL(
        from: "requests_unmirrored_ends",
        isEnded: "ended_at IS NOT NULL",
        order: "end_sequence"
    )
    private static let openSQL = changedSQL(
        from: "requests_unmirrored",
        isEnded: "ended_at IS NULL",
        order: "id"
    )

    private static func changedSQL(from index: String, isEnded: String, order: String) -> String {
        """
        SELECT m.spool_id, m.row_id, m.fingerprint, r.revision, r.phase, r.park_reason, r.kind,
          r.end_detail, r.id, r.updated_at
        FROM (SELECT id, revision, phase, park_reason, kind, end_detail, updated_at
            FROM requests INDEXED BY \(index)
            WHERE spool_rows > 0 AND mirrored_revision < revision AND \(isEnded) AND EXISTS (
                SELECT 1 FROM imports i WHERE i.request_id = requests.id
                  AND i.source = 'requests' AND i.is_current = 1)
            ORDER BY \(order) LIMIT ?) r
          JOIN imports m ON m.request_id = r.id AND m.source = 'requests' AND m.is_current = 1
        """
    }

    /// Records that rows show what ``mirrorBatch(limit:)`` said; one that changed since comes
    /// again.
    ///
    /// - Throws: ``StorageError``: nothing was recorded.
    package func confirmMirrored(_ rows: [MirrorRow]) async throws {
        guard !rows.isEmpty else { return }
        try await writer.perform { database in
            for row in rows {
                guard let id = row.requestID else {
                    try database.run(
                        """
                        UPDATE imports SET is_unmirrored = 0
                        WHERE spool_id = ? AND source = 'requests' AND row_id = ?
                        """,
                        .text(row.spoolID),
                        .int(row.spoolRow)
                    )
                    continue
                }
                try database.run(
                    """
                    UPDATE requests SET mirrored_revision = revision
                    WHERE id = ? AND revision = ?
                    """,
                    .id(id.value),
                    .int(row.revision)
                )
            }
        }
    }
}

extension RequestRow {
    /// - Throws: ``StorageError`` of kind `malformed`.
    static func wireState(_ row: SQLRow, phase: Int32, parkReason: Int32) throws -> WireState {
        row.isNull(parkReason) ? try row.choice(phase, as: WireState.self) : .parked
    }
}
