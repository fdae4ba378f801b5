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
    /// Rows whose spool shows something older than the state, the oldest request first.
    ///
    /// All rows of one request come together. A row of a spool that is gone comes too: confirm it
    /// unwritten.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func mirrorBatch(limit: Int) async throws -> [MirrorRow] {
        try await read { database in
            let rejected = try database.all(
                """
                SELECT spool_id, row_id, reject_reason, imported_at FROM imports
                WHERE is_unmirrored = 1 ORDER BY imported_at LIMIT ?
                """,
                .int(limit)
            ) { row in
                MirrorRow(
                    spoolID: row.text(0),
                    spoolRow: Int64(row.int(1)),
                    requestID: nil,
                    state: .rejected,
                    detail: row.text(2),
                    updatedAt: row.time(3),
                    isErased: false,
                    revision: 0
                )
            }
            return try rejected + Self.changedRows(limit: limit - rejected.count, database)
        }
    }

    private static func changedRows(limit: Int, _ database: Database) throws -> [MirrorRow] {
        guard limit > 0 else { return [] }
        return try database.all(
            """
            SELECT m.spool_id, m.row_id, r.revision, \(RequestRow.prefixedColumns)
            FROM (SELECT * FROM requests INDEXED BY requests_unmirrored
                WHERE spool_rows > 0 AND mirrored_revision < revision AND EXISTS (
                    SELECT 1 FROM imports i WHERE i.request_id = requests.id
                      AND i.source = 'requests' AND i.is_current = 1)
                ORDER BY id LIMIT ?) r
              JOIN imports m ON m.request_id = r.id AND m.source = 'requests' AND m.is_current = 1
            """,
            .int(limit)
        ) { row in
            let state = try RequestRow.wireState(row, phase: 3, parkReason: 4)
            let isEnded = state == .completed || state == .cancelled
            return MirrorRow(
                spoolID: row.text(0),
                spoolRow: Int64(row.int(1)),
                requestID: try row.requestID(7),
                state: state,
                detail: isEnded ? row.textOrNil(6) : row.textOrNil(4),
                updatedAt: row.time(8),
                isErased: state == .completed && row.text(5) == "delete_account",
                revision: row.int(2)
            )
        }
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
    /// What a mirror row needs, of `r`.
    fileprivate static let prefixedColumns =
        "r.phase, r.park_reason, r.kind, r.end_detail, r.id, r.updated_at"

    /// - Throws: ``StorageError`` of kind `malformed`.
    static func wireState(_ row: SQLRow, phase: Int32, parkReason: Int32) throws -> WireState {
        row.isNull(parkReason) ? try row.choice(phase, as: WireState.self) : .parked
    }
}
