import Engine
import GRDB
import Lifecycle

extension SpoolDatabase {
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
    /// Returns how many rows had changed since they were read; these are left alone.
    func settle(_ settlements: [CredentialSettlement]) async -> SpoolAnswer<Int> {
        let known = look
        return await perform(commitWait: SpoolLimits.commitWait) { [hasher, host] database in
            try database.run("BEGIN IMMEDIATE")
            let look = try SpoolProbe(database, known: known, host: host)
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
    /// A row is written only when it names its request already, or its input is what was imported:
    /// anything else may be a request that was not read yet.
    func mirror(
        _ rows: ArraySlice<MirrorRow>,
        within time: Duration = SpoolLimits.mirrorBuildMax
    ) async -> SpoolAnswer<MirrorCommit> {
        let known = look
        // Made before the lock is taken.
        let texts = rows.map { (row: $0, updatedAt: $0.updatedAt.rfc3339) }
        return await perform(commitWait: SpoolLimits.commitWait) { [hasher, clock, host] database in
            try database.run("BEGIN IMMEDIATE")
            var commit = MirrorCommit()
            commit.beganAt = clock.uptime()
            let end = commit.beganAt + time
            let look = try SpoolProbe(database, known: known, host: host)
            for (row, updatedAt) in texts {
                if row.spoolID == look.spoolID {
                    do {
                        try database.show(row, updatedAt, hasher, &commit)
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

extension Database {
    fileprivate func isSubmitted(_ id: Int64, _ table: SpoolTable) throws -> Bool {
        try first(table.isSubmittedSQL, [.int(id)]) { $0.bool() } ?? false
    }

    fileprivate func show(
        _ row: MirrorRow,
        _ updatedAt: String,
        _ hasher: any KeyedHasher,
        _ commit: inout SpoolDatabase.MirrorCommit
    ) throws {
        let requestID = row.requestID.map { "\($0)" }
        // A row that does not name the request may be another one.
        let found = try first(SpoolTable.shownRequestSQL, [.int(row.spoolRow)]) { shown in
            let isKnown = requestID != nil && shown.textOrNil("request_id") == requestID
            return (
                stranger: isKnown ? nil : SpoolRawRow(shown, of: .requests),
                isBare: shown.isNull("idempotency_key") && shown.text("options") == "{}"
            )
        }
        // The application may delete its rows.
        guard let found else { return }
        if let raw = found.stranger, raw.fingerprint(hasher) != row.fingerprint {
            commit.strangerCount += 1
            return
        }
        let eraseSQL = found.isBare ? Self.eraseBareSQL : Self.eraseSQL
        try run(
            row.isErased ? eraseSQL : Self.showSQL,
            [
                .int(row.spoolRow), .text(requestID), .text(row.state.rawValue),
                .text(row.detail), .text(updatedAt),
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
