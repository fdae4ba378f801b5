package import Engine

/// The states that one of several spools shows.
package enum MirrorShare: Hashable, Sendable {
    case all
    /// All but those of these queues, at least one: the spool's file, and spools that are gone.
    case allBut(queues: [String])
    case queue(String)
    /// The spool's file of one of several hosts, and those that were in its place.
    case host(String)

    /// Whether a row's `spool_id` belongs to it, as SQL.
    ///
    /// Names of queues and hosts have only letters, digits, hyphens and points.
    fileprivate func condition(_ alias: String) -> String {
        func begins(with prefix: String) -> String {
            // A semicolon follows the colon (ASCII).
            "\(alias)spool_id >= '\(prefix)' AND \(alias)spool_id < '\(prefix.dropLast());'"
        }
        func isOf(_ queue: String) -> String { begins(with: SpoolSource.prefix(queue: queue)) }
        return switch self {
        case .all: "1 = 1"
        case .allBut(let queues): "NOT (\(queues.map(isOf).joined(separator: " OR ")))"
        case .queue(let name): "(\(isOf(name)))"
        case .host(let name): "(\(begins(with: SpoolSource.prefix(host: name))))"
        }
    }
}

/// Shows one of several spools its share.
package struct SharedMirrorSource: SpoolMirrorSource {
    private let state: StateDatabase
    private let share: MirrorShare

    package init(_ state: StateDatabase, _ share: MirrorShare) {
        (self.state, self.share) = (state, share)
    }

    package var isQuiet: Bool { state.isQuiet }

    /// The rows of the share; throws ``StorageError``.
    package func spoolMirrorRows(limit: Int) async throws -> [MirrorRow] {
        try await state.spoolMirrorRows(limit: limit, of: share)
    }

    /// Records that the share shows the rows; throws ``StorageError``.
    package func confirmMirrored(_ rows: [MirrorRow]) async throws {
        try await state.confirmMirrored(rows, of: share)
    }

    /// Has states come again, whatever the share; throws ``StorageError``.
    package func mirrorAgain(_ rows: [SpoolRow]) async throws {
        try await state.mirrorAgain(rows)
    }

    /// Counts rows that had another content, whatever the share; throws ``StorageError``.
    package func countRecreated(
        requests: [SpoolRow],
        credentials: [SpoolRow]
    ) async throws -> Int {
        try await state.countRecreated(requests: requests, credentials: credentials)
    }
}

/// The statements of the mirror of one share.
struct MirrorSQL {
    let rejected: String
    /// What another spool shows already, from one request's rows in several.
    let shownElsewhere: String
    let ended: String
    let open: String
    /// Another spool has rows of a request that this one shows now: `?1` is the request.
    let markOthers: String
    /// `?1` to `?3` name the row, `?4` and `?5` the request and its revision.
    let unmark: String

    /// Whether one spool shows what another one does not show yet.
    static let hasMarks = """
        SELECT 1 FROM imports INDEXED BY imports_unmirrored
        WHERE is_unmirrored = 1 AND reject_reason IS NULL LIMIT 1
        """

    init(_ share: MirrorShare) {
        rejected = """
            SELECT spool_id, row_id, reject_reason, imported_at, fingerprint FROM imports
            WHERE is_unmirrored = 1 AND reject_reason IS NOT NULL AND \(share.condition(""))
            ORDER BY imported_at LIMIT ?
            """
        shownElsewhere = """
            FROM imports m INDEXED BY imports_unmirrored JOIN requests r ON r.id = m.request_id
            WHERE m.is_unmirrored = 1 AND m.reject_reason IS NULL AND \(share.condition("m."))
            ORDER BY m.imported_at LIMIT ?
            """
        ended = Self.changed(
            share,
            from: "requests_unmirrored_ends",
            isEnded: "ended_at IS NOT NULL",
            order: "end_sequence"
        )
        open = Self.changed(
            share,
            from: "requests_unmirrored",
            isEnded: "ended_at IS NULL",
            order: "id"
        )
        markOthers = """
            UPDATE imports SET is_unmirrored = 1 WHERE request_id = ?1 AND source = 'requests'
              AND is_current = 1 AND NOT (\(share.condition("")))
            """
        unmark = """
            UPDATE imports SET is_unmirrored = 0
            WHERE spool_id = ?1 AND source = 'requests' AND row_id = ?2 AND fingerprint = ?3
              AND is_unmirrored = 1
              AND EXISTS (SELECT 1 FROM requests WHERE id = ?4 AND revision = ?5)
            """
    }

    private static func changed(
        _ share: MirrorShare,
        from index: String,
        isEnded: String,
        order: String
    ) -> String {
        """
        FROM (SELECT id, revision, phase, park_reason, kind, end_detail, updated_at
            FROM requests INDEXED BY \(index)
            WHERE spool_rows > 0 AND mirrored_revision < revision AND \(isEnded) AND EXISTS (
                SELECT 1 FROM imports i WHERE i.request_id = requests.id
                  AND i.source = 'requests' AND i.is_current = 1 AND \(share.condition("i.")))
            ORDER BY \(order) LIMIT ?) r
          JOIN imports m ON m.request_id = r.id AND m.source = 'requests' AND m.is_current = 1
            AND \(share.condition("m."))
        """
    }
}

/// Where the states come from that the spool shows.
package protocol SpoolMirrorSource: Sendable {
    /// Whether nothing is being changed; cheap.
    var isQuiet: Bool { get }

    /// Rows that show something older than the state, all rows of one request together.
    func spoolMirrorRows(limit: Int) async throws -> [MirrorRow]

    /// Records that rows show it.
    func confirmMirrored(_ rows: [MirrorRow]) async throws

    /// Has the states of rows that were imported before come again.
    func mirrorAgain(_ rows: [SpoolRow]) async throws

    /// How many of the rows were imported before with another content.
    func countRecreated(requests: [SpoolRow], credentials: [SpoolRow]) async throws -> Int
}
