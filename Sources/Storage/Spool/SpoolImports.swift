import Engine
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

    let database: any StateConnection
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

    /// The same row id was imported with another content.
    func hasOther(_ row: SpoolRow) throws -> Bool {
        try database.has(
            """
            SELECT 1 FROM imports
            WHERE spool_id = ? AND source = ? AND row_id = ? AND fingerprint <> ? LIMIT 1
            """,
            [.text(row.spoolID), .text(source.rawValue), .int(row.rowID), .blob(row.fingerprint)]
        )
    }

    /// Earlier contents of the same row are gone from the file: nothing is mirrored to them.
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
        var request: RequestID?
        var reason: String?
        switch outcome {
        case .request(let id): request = id
        case .rejected(let text): reason = text
        case .stored: break
        }
        let isUnmirrored = reason != nil && source == .requests
        try database.run(
            """
            INSERT INTO imports (spool_id, source, row_id, fingerprint, request_id, reject_reason,
              is_unmirrored, imported_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(row.spoolID), .text(source.rawValue), .int(row.rowID), .blob(row.fingerprint),
                .id(request), .text(reason), .bool(isUnmirrored), .time(now),
            ]
        )
    }
}
