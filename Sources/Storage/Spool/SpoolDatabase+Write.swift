import Engine
import GRDB
import Lifecycle

/// What the row of a credential is to show, and that its secrets go.
struct CredentialSettlement: Hashable, Sendable {
    let row: SpoolRow
    /// `nil` when it was sealed.
    let rejection: CredentialRejectReason?
}

/// A row to mirror, with the content that it must still have.
package struct SpoolMirrorRow: Hashable, Sendable {
    package let row: MirrorRow
    /// Keyed hash of the imported input columns; `nil` when the import is not known any more.
    package let fingerprint: [UInt8]?

    package init(row: MirrorRow, fingerprint: [UInt8]?) {
        self.row = row
        self.fingerprint = fingerprint
    }
}

extension SpoolDatabase {
    /// What one commit of the mirror did.
    struct MirrorCommit: Sendable {
        /// How many of the rows, from the first, were written or are gone for good.
        var handledCount = 0
        /// Rows whose place has another content now, which may not have been imported.
        var strangerCount = 0
        var unreadableCount = 0
        var writtenCount = 0
        /// There was no time for all of the rows.
        var isCut = false
        /// When it had the lock, when it had written everything but its end, and when it was over.
        var beganAt = Duration.zero
        var builtAt = Duration.zero
        var endedAt = Duration.zero
    }

    /// Shows what became of credentials and removes their secrets, in one commit.
    ///
    /// A row that changed since it was read is left alone; it is offered again.
    ///
    /// - Returns: How many had changed.
    func settle(_ settlements: [CredentialSettlement]) async -> SpoolAnswer<Int> {
        let known = look
        return await perform(commitWait: SpoolLimits.commitWait) { [hasher] database in
            try database.run("BEGIN IMMEDIATE")
            let look = try SpoolProbe(database, known: known)
            var changedCount = 0
            for settlement in settlements where settlement.row.spoolID == look.spoolID {
                let id = settlement.row.rowID
                guard try database.isSubmitted(id, .credentials) else { continue }
                let raw = try database.first(
                    SpoolTable.credentials.rowSQL,
                    [.int(id)],
                    body: { SpoolRawRow($0, of: .credentials) }
                )
                guard raw?.fingerprint(hasher) == settlement.row.fingerprint else {
                    changedCount += 1
                    continue
                }
                try database.run(
                    """
                    UPDATE credentials SET secret = NULL, code_verifier = NULL, raw_nonce = NULL,
                      user_id = ?2 || ':' || id, subject = NULL, redirect_uri = NULL,
                      state = ?2, detail = ?3 WHERE id = ?1
                    """,
                    [
                        .int(id), .text(settlement.rejection == nil ? "sealed" : "rejected"),
                        .text(settlement.rejection?.rawValue),
                    ]
                )
            }
            return changedCount
        }
    }

    /// Shows states, as many rows as can be built in `time`, and at least a few.
    ///
    /// A row is written only when it is still the imported one: it names its request already, or
    /// its input is what was imported. Anything else there may be a request that nobody has read
    /// yet.
    func mirror(
        _ rows: ArraySlice<SpoolMirrorRow>,
        within time: Duration = SpoolLimits.mirrorBuildMax
    ) async -> SpoolAnswer<MirrorCommit> {
        let known = look
        // Nobody waits for a lock while the texts are made.
        let texts = rows.map { MirrorText($0) }
        return await perform(commitWait: SpoolLimits.commitWait) { [hasher, clock] database in
            try database.run("BEGIN IMMEDIATE")
            var commit = MirrorCommit()
            commit.beganAt = clock.uptime()
            let end = commit.beganAt + time
            let look = try SpoolProbe(database, known: known)
            for row in texts {
                if row.mirrored.row.spoolID == look.spoolID {
                    do {
                        try database.show(row, hasher, &commit)
                    } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
                        commit.unreadableCount += 1
                    }
                }
                commit.handledCount += 1
                if commit.handledCount % 8 == 0, clock.uptime() >= end {
                    commit.isCut = commit.handledCount < texts.count
                    break
                }
            }
            commit.builtAt = clock.uptime()
            return commit
        } committed: { [clock] commit in
            commit.endedAt = clock.uptime()
        }
    }
}

/// A row to mirror as it is written.
private struct MirrorText: Sendable {
    let mirrored: SpoolMirrorRow
    let requestID: String?
    let updatedAt: String

    init(_ mirrored: SpoolMirrorRow) {
        self.mirrored = mirrored
        requestID = mirrored.row.requestID.map { "\($0)" }
        updatedAt = mirrored.row.updatedAt.rfc3339
    }
}

/// A row of the spool before it is written.
private struct ShownRow {
    /// The row when it does not name the request, and may be another one.
    let stranger: SpoolRawRow?
    /// It has neither a key nor options.
    let isBare: Bool

    init(_ row: SQLRow, requestID: String?) {
        let shown = row.textOrNil("request_id")
        let isKnown = shown != nil && shown == requestID
        stranger = isKnown ? nil : SpoolRawRow(row, of: .requests)
        isBare = row.isNull("idempotency_key") && row.text("options") == "{}"
    }
}

extension Database {
    fileprivate func isSubmitted(_ id: Int64, _ table: SpoolTable) throws -> Bool {
        try first(table.isSubmittedSQL, [.int(id)]) { $0.bool() } ?? false
    }

    fileprivate func show(
        _ text: MirrorText,
        _ hasher: any KeyedHasher,
        _ commit: inout SpoolDatabase.MirrorCommit
    ) throws {
        let row = text.mirrored.row
        let found = try first(SpoolTable.shownRequestSQL, [.int(row.spoolRow)]) {
            ShownRow($0, requestID: text.requestID)
        }
        // The application may delete its rows.
        guard let found else { return }
        if let raw = found.stranger, raw.fingerprint(hasher) != text.mirrored.fingerprint {
            commit.strangerCount += 1
            return
        }
        let eraseSQL = found.isBare ? Self.eraseBareSQL : Self.eraseSQL
        try run(
            row.isErased ? eraseSQL : Self.showSQL,
            [
                .int(row.spoolRow), .text(text.requestID), .text(row.state.rawValue),
                .text(row.detail), .text(text.updatedAt),
            ]
        )
        commit.writtenCount += 1
    }

    private static let showSQL = """
        UPDATE requests SET request_id = ?2, state = ?3, detail = ?4, updated_at = ?5
        WHERE id = ?1
        """
    private static let eraseSQL = """
        UPDATE requests SET request_id = ?2, state = ?3, detail = ?4, updated_at = ?5,
          user_id = 'erased:' || ?2, idempotency_key = NULL, options = '{}' WHERE id = ?1
        """
    /// Leaves the index on the keys alone.
    private static let eraseBareSQL = """
        UPDATE requests SET request_id = ?2, state = ?3, detail = ?4, updated_at = ?5,
          user_id = 'erased:' || ?2 WHERE id = ?1
        """
}
