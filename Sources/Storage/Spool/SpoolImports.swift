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

    enum Column: Int32, Columns {
        case spoolID, source, rowID, fingerprint, requestID, rejectReason, isUnmirrored, importedAt

        static let selection = makeSelection()
        static let insertion = insertion(of: allCases, into: "imports")
    }

    let database: any StateConnection
    let source: Source

    struct Known {
        /// What became of the row that is there now.
        var same: Outcome?
        /// Another row was there before.
        var hasOther = false
    }

    func known(of row: SpoolRow) throws -> Known {
        let found = try database.all(
            Column.self,
            "FROM imports WHERE spool_id = ? AND source = ? AND row_id = ?",
            [.text(row.spoolID), .text(source.rawValue), .int(row.rowID)]
        ) { (isSame: $0.blob(.fingerprint) == row.fingerprint, outcome: try Outcome($0)) }
        return Known(
            same: found.first(where: \.isSame)?.outcome,
            hasOther: found.contains { !$0.isSame }
        )
    }

    /// Earlier contents of the same row are gone from the file: nothing is mirrored to them.
    func add(_ row: SpoolRow, _ outcome: Outcome, known: Known, at now: WallTime) throws {
        if known.hasOther {
            try database.send(
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
        try database.send(
            Column.insertion,
            Column.row([
                .spoolID: .text(row.spoolID), .source: .text(source.rawValue),
                .rowID: .int(row.rowID), .fingerprint: .blob(row.fingerprint),
                .requestID: .id(request), .rejectReason: .text(reason),
                .isUnmirrored: .bool(isUnmirrored), .importedAt: .time(now),
            ])
        )
    }
}

extension SpoolImports.Outcome {
    fileprivate init(_ row: Row<SpoolImports.Column>) throws {
        if let request = try row.requestIDOrNil(.requestID) {
            self = .request(request)
        } else {
            self = row.textOrNil(.rejectReason).map { .rejected($0) } ?? .stored
        }
    }
}
