package import Engine
import GRDB
import Lifecycle

extension StateDatabase: SpoolMirrorSource {
    /// Whether no commit, checkpoint or scrub is under way or waits.
    package var isQuiet: Bool { writer.isIdle }

    /// Rows that show something older than the state, with the content that was imported.
    package func spoolMirrorRows(limit: Int) async throws -> [SpoolMirrorRow] {
        try await read { try Self.mirrorRows(limit: limit, $0) }
    }

    /// Makes the states of rows that were imported before come again: their file was restored.
    package func mirrorAgain(_ rows: [SpoolRow]) async throws {
        guard !rows.isEmpty else { return }
        try await writer.perform { database in
            for row in rows {
                try database.run(
                    """
                    UPDATE imports SET is_current = fingerprint = ?3,
                      is_unmirrored = fingerprint = ?3 AND reject_reason IS NOT NULL
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
            return try requests.count { try first.hasOther($0) }
                + credentials.count { try second.hasOther($0) }
        }
    }
}
