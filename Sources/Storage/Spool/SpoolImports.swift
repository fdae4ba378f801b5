import Engine
import GRDB
import Lifecycle

/// What each row of each spool became; makes the import exactly once.
struct SpoolImports {
    enum Source: String {
        case requests, credentials
    }

    enum Outcome: Equatable {
        case request(RequestID)
        case rejected(String)
        /// A credential that is in the vault, or was.
        case stored
    }

    let database: Database
    let source: Source

    /// What is known of a place in a spool.
    struct Known {
        /// What became of the row that is there now.
        var same: Outcome?
        /// Another row was there before.
        var hasOther = false
    }

    func known(of row: SpoolRow) throws -> Known {
        var known = Known()
        try database.each(
            """
            SELECT fingerprint, request_id, reject_reason FROM imports
            WHERE spool_id = ? AND source = ? AND row_id = ?
            """,
            [.text(row.spoolID), .text(source.rawValue), .int(row.rowID)]
        ) { found in
            guard found.blob("fingerprint") == row.fingerprint else {
                known.hasOther = true
                return
            }
            if found.isNull("request_id") {
                known.same = found.textOrNil("reject_reason").map { .rejected($0) } ?? .stored
            } else {
                known.same = .request(try found.requestID("request_id"))
            }
        }
        return known
    }

    /// Whether the same row id was imported with another content.
    func hasOther(_ row: SpoolRow) throws -> Bool {
        try database.has(
            """
            SELECT 1 FROM imports
            WHERE spool_id = ? AND source = ? AND row_id = ? AND fingerprint <> ? LIMIT 1
            """,
            [.text(row.spoolID), .text(source.rawValue), .int(row.rowID), .blob(row.fingerprint)]
        )
    }

    /// Records an import.
    ///
    /// Earlier contents of the same row are gone from the file: nothing is mirrored to
    /// them any more.
    func add(_ row: SpoolRow, _ outcome: Outcome, known: Known, at now: WallTime) throws {
        if known.hasOther {
            try database.run(
                """
                UPDATE imports SET is_current = 0, is_unmirrored = 0
                WHERE spool_id = ? AND source = ? AND row_id = ?
                """,
                [.text(row.spoolID), .text(source.rawValue), .int(row.rowID)]
            )
        }
        var request = SQLValue.null
        var reason = SQLValue.null
        switch outcome {
        case .request(let id): request = .id(id.value)
        case .rejected(let text): reason = .text(text)
        case .stored: break
        }
        let isUnmirrored: Bool
        if case .rejected = outcome {
            isUnmirrored = source == .requests
        } else {
            isUnmirrored = false
        }
        try database.run(
            """
            INSERT INTO imports (spool_id, source, row_id, fingerprint, request_id, reject_reason,
              is_unmirrored, imported_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(row.spoolID), .text(source.rawValue), .int(row.rowID), .blob(row.fingerprint),
                request, reason, .bool(isUnmirrored), .time(now),
            ]
        )
    }
}
