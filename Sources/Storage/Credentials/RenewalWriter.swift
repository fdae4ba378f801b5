import Engine
import GRDB
import Lifecycle

/// Keeps the list of tokens that die unless they are used: enrols, warns, and records refreshes.
///
/// The list is a table of its own, so that whatever stores a credential knows nothing of it: ids of
/// credentials only grow, and how far they are enrolled is noted with each page.
struct RenewalWriter {
    /// The note on what was enrolled, and under which policies.
    private static let progress = "renewals_enrolled"
    /// Credentials that one commit enrols or warns about: a few milliseconds.
    private static let pageMax = 500
    /// A token that an open request is at is looked at again then.
    private static let pauseForRequest = Duration.seconds(86_400)

    let database: Database

    /// Enrols a page of new credentials, and finds tokens that will die soon.
    ///
    /// Other policies than last time begin the enrolment anew.
    ///
    /// - Returns: How many were found dying, by provider, and whether there is more to do.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    func tend(
        _ policies: [ProviderName: KeepAlivePolicy],
        at now: WallTime
    ) throws -> (expiring: [ProviderName: Int], goesOn: Bool) {
        var goesOn = try enrol(policies)
        var expiring: [ProviderName: Int] = [:]
        for (name, policy) in policies.sorted(by: { $0.key < $1.key }) {
            let (count, isFull) = try warn(name, policy, at: now)
            if count > 0 { expiring[name] = count }
            goesOn = goesOn || isFull
        }
        return (expiring, goesOn)
    }

    private func enrol(_ policies: [ProviderName: KeepAlivePolicy]) throws -> Bool {
        let mark = Self.mark(policies)
        let noted = try database.first(
            "SELECT value FROM meta WHERE key = ?",
            .text(Self.progress)
        ) { $0.text(0) }
        let parts = noted?.split(separator: " ", maxSplits: 1)
        let last = parts.flatMap { $0.count == 2 && $0[1] == mark ? Int64($0[0]) : nil } ?? 0
        let page = try database.all(
            """
            SELECT c.id, i.provider, c.kind, c.created_at, c.last_live_at, c.expires_at,
              i.subject_hash IS NOT NULL, c.sealed_secret IS NOT NULL
            FROM credentials c JOIN identities i ON i.id = c.identity_id
            WHERE c.id > ? ORDER BY c.id LIMIT ?
            """,
            .int(last),
            .int(Self.pageMax)
        ) { try Candidate($0) }
        for candidate in page {
            guard let policy = policies[candidate.provider] else { continue }
            try enrol(candidate, policy)
        }
        let reached = page.last?.id.rowID ?? last
        guard reached != last || parts == nil || last == 0 else { return false }
        try database.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            .text(Self.progress),
            .text("\(reached) \(mark)")
        )
        return page.count == Self.pageMax
    }

    private func enrol(_ candidate: Candidate, _ policy: KeepAlivePolicy) throws {
        guard candidate.hasSecret, candidate.kind == policy.clock.kind,
            !(candidate.hasSubject && policy.clock.isMootWithSubject)
        else {
            try database.run(
                "DELETE FROM renewals WHERE credential_id = ?",
                .int(candidate.id.rowID)
            )
            return
        }
        let usedAt = policy.usedAt(storedAt: candidate.storedAt, lastLiveAt: candidate.lastLiveAt)
        let dueAt = policy.isKeptAlive ? policy.renewalTime(usedAt: usedAt, candidate.id) : nil
        try database.run(
            """
            INSERT INTO renewals (credential_id, provider, due_at, warn_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET due_at = excluded.due_at, warn_at = excluded.warn_at,
              warned_at = NULL
            """,
            .int(candidate.id.rowID),
            .text(candidate.provider.rawValue),
            .time(dueAt),
            .time(policy.warningTime(usedAt: usedAt, expiresAt: candidate.expiresAt))
        )
    }

    /// Marks one page of tokens whose warning is due; one that was used meanwhile is put off.
    private func warn(
        _ name: ProviderName,
        _ policy: KeepAlivePolicy,
        at now: WallTime
    ) throws -> (count: Int, isFull: Bool) {
        let page = try database.all(
            """
            SELECT c.id, w.provider, c.kind, c.created_at, c.last_live_at, c.expires_at, 0, 1
            FROM renewals w INDEXED BY renewals_warn JOIN credentials c ON c.id = w.credential_id
            WHERE w.provider = ? AND w.warn_at IS NOT NULL AND w.warn_at <= ?
            ORDER BY w.warn_at LIMIT ?
            """,
            .text(name.rawValue),
            .time(now),
            .int(Self.pageMax)
        ) { try Candidate($0) }
        var count = 0
        for candidate in page {
            let usedAt = policy.usedAt(
                storedAt: candidate.storedAt,
                lastLiveAt: candidate.lastLiveAt
            )
            let warnAt = policy.warningTime(usedAt: usedAt, expiresAt: candidate.expiresAt)
            let isDying = warnAt <= now
            if isDying { count += 1 }
            try database.run(
                "UPDATE renewals SET warn_at = ?, warned_at = ? WHERE credential_id = ?",
                isDying ? .null : .time(warnAt),
                isDying ? .time(now) : .null,
                .int(candidate.id.rowID)
            )
        }
        return (count, page.count == Self.pageMax)
    }

    /// One text for equal policies.
    private static func mark(_ policies: [ProviderName: KeepAlivePolicy]) -> String {
        policies.sorted { $0.key < $1.key }.map { name, policy in
            let clock = policy.clock
            return [
                name.rawValue, clock.kind.rawValue, "\(clock.lifetime.milliseconds)",
                "\(clock.isRenewable)", "\(clock.isMootWithSubject)", "\(policy.isKeptAlive)",
                "\(policy.warnBefore.milliseconds)",
            ].joined(separator: ":")
        }.joined(separator: ",")
    }

    /// A credential as far as its clock goes.
    private struct Candidate {
        let id: CredentialID
        let provider: ProviderName
        let kind: CredentialKind
        let storedAt: WallTime
        let lastLiveAt: WallTime?
        let expiresAt: WallTime?
        let hasSubject: Bool
        let hasSecret: Bool

        init(_ row: SQLRow) throws {
            id = CredentialID(rowID: Int64(row.int(0)))
            provider = ProviderName(row.text(1))
            kind = try row.choice(2, as: CredentialKind.self)
            storedAt = row.time(3)
            lastLiveAt = row.timeOrNil(4)
            expiresAt = row.timeOrNil(5)
            hasSubject = row.bool(6)
            hasSecret = row.bool(7)
        }
    }
}

// MARK: - One refresh

extension RenewalWriter {
    /// Makes the intent to refresh durable, and reads the token as it is at that moment.
    ///
    /// The next try is put off first, so that a token that crashes the process does so once an
    /// hour at most.
    ///
    /// - Returns: `nil` when the token is gone, was used meanwhile, or is a request's affair now.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    func begin(
        _ id: CredentialID,
        _ policy: KeepAlivePolicy,
        at now: WallTime
    ) throws -> SealedCredential? {
        guard let row = try find(id) else { return nil }
        let usedAt = policy.usedAt(storedAt: row.storedAt, lastLiveAt: row.lastLiveAt)
        let dueAt = max(
            policy.renewalTime(usedAt: usedAt, id),
            row.lastRefreshAt.map { $0 + policy.refreshInterval } ?? .distantPast
        )
        guard dueAt <= now else {
            try postpone(id, until: dueAt)
            return nil
        }
        guard try !isRevoking(row.identity, of: row.sealed.userHash) else {
            try postpone(id, until: now + Self.pauseForRequest)
            return nil
        }
        try postpone(id, until: now + max(Limits.renewalRetryMin, policy.refreshInterval))
        // A doubt of before stays until a live answer ends it.
        try database.run(
            """
            UPDATE credentials SET last_refresh_at = ?1, refresh_begun_at =
              iif(?2 AND (refresh_begun_at IS NULL OR refresh_begun_at <= ifnull(last_live_at, 0)),
                ?1, refresh_begun_at)
            WHERE id = ?3
            """,
            .time(now),
            .bool(policy.mayRotate),
            .int(id.rowID)
        )
        return row.sealed
    }

    /// Records how a refresh ended.
    ///
    /// - Returns: The identity's updates where requests must know that a token is in doubt.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    func end(_ ended: EndedRenewal, at now: WallTime) throws -> IdentityUpdate? {
        let id = ended.credential
        switch ended.outcome {
        case .kept(let dueAt, let warnAt):
            try database.run(
                """
                UPDATE credentials SET refresh_begun_at = NULL,
                  last_live_at = max(ifnull(last_live_at, 0), ?) WHERE id = ?
                """,
                .time(now),
                .int(id.rowID)
            )
            try database.run(
                """
                UPDATE renewals SET due_at = ?, warn_at = ?, warned_at = NULL, failures = 0
                WHERE credential_id = ?
                """,
                .time(dueAt),
                .time(warnAt),
                .int(id.rowID)
            )
        case .refused:
            try settleDoubt(id, since: ended.begunAt)
            try stop(id)
        case .unreadable:
            try settleDoubt(id, since: ended.begunAt)
            try database.run(
                "UPDATE renewals SET due_at = NULL WHERE credential_id = ?",
                .int(id.rowID)
            )
        case .failed(let retryAt, let isInDoubt):
            try database.run(
                "UPDATE renewals SET due_at = ?, failures = failures + 1 WHERE credential_id = ?",
                .time(retryAt),
                .int(id.rowID)
            )
            guard isInDoubt else {
                try settleDoubt(id, since: ended.begunAt)
                return nil
            }
            return try find(id).flatMap {
                try IdentityUpdate.tell($0.identity, of: $0.sealed.userHash, at: now, database)
            }
        }
        return nil
    }

    /// The call was answered, or not made: it leaves no doubt behind.
    private func settleDoubt(_ id: CredentialID, since begunAt: WallTime) throws {
        try database.run(
            """
            UPDATE credentials SET refresh_begun_at = NULL WHERE id = ? AND refresh_begun_at = ?
            """,
            .int(id.rowID),
            .time(begunAt)
        )
    }

    private func stop(_ id: CredentialID) throws {
        try database.run(
            """
            UPDATE renewals SET due_at = NULL, warn_at = NULL, warned_at = NULL
            WHERE credential_id = ?
            """,
            .int(id.rowID)
        )
    }

    private func postpone(_ id: CredentialID, until time: WallTime) throws {
        try database.run(
            "UPDATE renewals SET due_at = ? WHERE credential_id = ?",
            .time(time),
            .int(id.rowID)
        )
    }

    /// Whether an open request has begun on the identity, or is done with it.
    private func isRevoking(_ identity: IdentityID, of userHash: [UInt8]) throws -> Bool {
        try database.first(
            """
            SELECT 1 FROM requests r INDEXED BY requests_user
              JOIN revocations v ON v.request_id = r.id
            WHERE r.user_hash = ? AND r.ended_at IS NULL AND v.identity_id = ?
              AND (v.started_at IS NOT NULL OR v.verdict IS NOT NULL) LIMIT 1
            """,
            .blob(userHash),
            .id(identity.value)
        ) { _ in true } ?? false
    }

    private struct Row {
        let identity: IdentityID
        let storedAt: WallTime
        let lastLiveAt: WallTime?
        let lastRefreshAt: WallTime?
        let sealed: SealedCredential
    }

    private func find(_ id: CredentialID) throws -> Row? {
        let place = try database.first(
            """
            SELECT c.identity_id, u.user_hash, c.created_at, c.last_live_at, c.last_refresh_at
            FROM renewals w JOIN credentials c ON c.id = w.credential_id
              JOIN identities i ON i.id = c.identity_id JOIN users u ON u.id = i.owner
            WHERE w.credential_id = ? AND c.sealed_secret IS NOT NULL
            """,
            .int(id.rowID)
        ) {
            (
                identity: try $0.identityID(0), user: $0.blob(1), stored: $0.time(2),
                live: $0.timeOrNil(3), refresh: $0.timeOrNil(4)
            )
        }
        guard let place,
            let found = try VaultIdentity.find(place.identity, of: place.user, database),
            let sealed = found.credentials[id]
        else { return nil }
        return Row(
            identity: place.identity,
            storedAt: place.stored,
            lastLiveAt: place.live,
            lastRefreshAt: place.refresh,
            sealed: sealed
        )
    }
}
