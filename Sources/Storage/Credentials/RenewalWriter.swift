import Engine
import Lifecycle

/// Keeps the list of tokens that die unless they are used: enrols, warns, and records refreshes.
///
/// Ids of credentials only grow, and each page notes how far they are enrolled: what stores a
/// credential knows nothing of the list.
struct RenewalWriter {
    private static let progress = "renewals_enrolled"
    /// Of one commit: a few milliseconds.
    private static let pageMax = 500
    /// A token that an open request works on is checked again after this.
    private static let pauseForRequest = Duration.seconds(86_400)

    private enum Column: Int32, Columns {
        case credentialID, provider, dueAt, warnAt

        static let replacement =
            insertion(of: allCases, into: "renewals") + """
                 ON CONFLICT (credential_id) DO UPDATE SET due_at = excluded.due_at,
                  warn_at = excluded.warn_at, warned_at = NULL
                """
    }

    let database: any StateConnection
    var scope = PartitionScope.all

    /// Enrols a page of new credentials, and counts tokens that will die soon, by provider.
    ///
    /// Other policies than last time begin the enrolment anew. One host enrols for all: it only
    /// reads what is stored. Each warns of the tokens in its partitions.
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
        let noted = try database.fact(Self.progress)
        let parts = noted?.split(separator: " ", maxSplits: 1)
        let last = parts.flatMap { $0.count == 2 && $0[1] == mark ? Int64($0[0]) : nil } ?? 0
        let page = try database.all(
            """
            SELECT c.id, i.provider, c.kind, c.created_at, c.last_live_at, c.expires_at,
              i.subject_hash IS NOT NULL AS has_subject, c.sealed_secret IS NOT NULL AS has_secret
            FROM credentials c JOIN identities i ON i.id = c.identity_id
            WHERE c.id > ? ORDER BY c.id LIMIT ?
            """,
            [.int(last), .int(Self.pageMax)]
        ) { try Candidate($0) }
        for candidate in page {
            guard let policy = policies[candidate.provider] else { continue }
            try enrol(candidate, policy)
        }
        let reached = page.last?.id.rowID ?? last
        guard reached != last || parts == nil || last == 0 else { return false }
        try database.setFact(Self.progress, to: "\(reached) \(mark)")
        return page.count == Self.pageMax
    }

    private func enrol(_ candidate: Candidate, _ policy: KeepAlivePolicy) throws {
        guard candidate.hasSecret, candidate.kind == policy.clock.kind,
            !(candidate.hasSubject && policy.clock.isMootWithSubject)
        else {
            try database.run(
                "DELETE FROM renewals WHERE credential_id = ?",
                [.id(candidate.id)]
            )
            return
        }
        let usedAt = policy.usedAt(storedAt: candidate.storedAt, lastLiveAt: candidate.lastLiveAt)
        let dueAt = policy.isKeptAlive ? policy.renewalTime(usedAt: usedAt, candidate.id) : nil
        try database.run(
            Column.replacement,
            Column.row([
                .credentialID: .id(candidate.id), .provider: .text(candidate.provider.rawValue),
                .dueAt: .time(dueAt),
                .warnAt: .time(
                    policy.warningTime(usedAt: usedAt, expiresAt: candidate.expiresAt)
                ),
            ])
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
            SELECT c.id, w.provider, c.kind, c.created_at, c.last_live_at, c.expires_at,
              0 AS has_subject, 1 AS has_secret
            FROM renewals w INDEXED BY renewals_warn JOIN credentials c ON c.id = w.credential_id
            WHERE w.provider = ? AND w.warn_at IS NOT NULL AND w.warn_at <= ?
              \(scope.ofIdentity("c.identity_id"))
            ORDER BY w.warn_at LIMIT ?
            """,
            [.text(name.rawValue), .time(now), .int(Self.pageMax)]
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
                [
                    isDying ? .null : .time(warnAt), isDying ? .time(now) : .null,
                    .id(candidate.id),
                ]
            )
        }
        return (count, page.count == Self.pageMax)
    }

    private static func mark(_ policies: [ProviderName: KeepAlivePolicy]) -> String {
        policies.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ",")
    }

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
            id = row.credentialID("id")
            provider = row.provider("provider")
            kind = try row.choice("kind", as: CredentialKind.self)
            storedAt = row.time("created_at")
            lastLiveAt = row.timeOrNil("last_live_at")
            expiresAt = row.timeOrNil("expires_at")
            hasSubject = row.bool("has_subject")
            hasSecret = row.bool("has_secret")
        }
    }
}

// MARK: - One refresh

extension RenewalWriter {
    /// Makes the intent to refresh durable, and reads the token.
    ///
    /// The next try is put off first: a token that crashes the process does so once an hour at
    /// most. Returns `nil` when the token is gone, was used meanwhile, or an open request works on
    /// it.
    func begin(
        _ id: CredentialID,
        _ policy: KeepAlivePolicy,
        at now: WallTime
    ) throws -> SealedCredential? {
        guard let (row, sealed) = try find(id) else { return nil }
        let usedAt = policy.usedAt(storedAt: row.storedAt, lastLiveAt: row.lastLiveAt)
        let dueAt = max(
            policy.renewalTime(usedAt: usedAt, id),
            row.lastRefreshAt.map { $0 + policy.refreshInterval } ?? .distantPast
        )
        guard dueAt <= now else {
            try change(id, "due_at = ?", [.time(dueAt)])
            return nil
        }
        guard try !isRevoking(row.identity, of: row.userHash) else {
            try change(id, "due_at = ?", [.time(now + Self.pauseForRequest)])
            return nil
        }
        let retryAt = now + max(Limits.renewalRetryMin, policy.refreshInterval)
        try change(id, "due_at = ?", [.time(retryAt)])
        // A doubt of before stays until a live answer ends it.
        try database.run(
            """
            UPDATE credentials SET last_refresh_at = ?1, refresh_begun_at =
              CASE WHEN ?2 = 1 AND
                (refresh_begun_at IS NULL OR refresh_begun_at <= coalesce(last_live_at, 0))
                THEN ?1 ELSE refresh_begun_at END
            WHERE id = ?3
            """,
            [.time(now), .bool(policy.mayRotate), .id(id)]
        )
        return sealed
    }

    /// Returns an update where requests must know that a token is in doubt.
    func end(_ ended: EndedRenewal, at now: WallTime) throws -> IdentityUpdate? {
        let id = ended.credential
        switch ended.outcome {
        case .kept(let dueAt, let warnAt):
            try database.run(
                """
                UPDATE credentials SET refresh_begun_at = NULL,
                  last_live_at = max(coalesce(last_live_at, 0), ?) WHERE id = ?
                """,
                [.time(now), .id(id)]
            )
            try change(
                id,
                "due_at = ?, warn_at = ?, warned_at = NULL, failures = 0",
                [.time(dueAt), .time(warnAt)]
            )
        case .refused:
            try settleDoubt(id, since: ended.begunAt)
            try change(id, "due_at = NULL, warn_at = NULL, warned_at = NULL")
        case .unreadable:
            try settleDoubt(id, since: ended.begunAt)
            try change(id, "due_at = NULL")
        case .failed(let retryAt, let isInDoubt):
            try change(id, "due_at = ?, failures = failures + 1", [.time(retryAt)])
            guard isInDoubt else {
                try settleDoubt(id, since: ended.begunAt)
                return nil
            }
            return try find(id).flatMap {
                try IdentityUpdate.tell($0.place.identity, of: $0.place.userHash, at: now, database)
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
            [.id(id), .time(begunAt)]
        )
    }

    private func change(
        _ id: CredentialID,
        _ terms: String,
        _ values: [SQLValue] = []
    ) throws {
        try database.run(
            "UPDATE renewals SET \(terms) WHERE credential_id = ?",
            values + [.id(id)]
        )
    }

    /// Whether an open request has begun on the identity, or is done with it.
    private func isRevoking(_ identity: IdentityID, of userHash: [UInt8]) throws -> Bool {
        try database.has(
            """
            SELECT 1 FROM requests r INDEXED BY requests_user
              JOIN revocations v ON v.request_id = r.id
            WHERE r.user_hash = ? AND r.ended_at IS NULL AND v.identity_id = ?
              AND (v.started_at IS NOT NULL OR v.verdict IS NOT NULL) LIMIT 1
            """,
            [.blob(userHash), .id(identity)]
        )
    }

    private struct Place {
        let identity: IdentityID
        let userHash: [UInt8]
        let storedAt: WallTime
        let lastLiveAt: WallTime?
        let lastRefreshAt: WallTime?
    }

    private func find(_ id: CredentialID) throws -> (place: Place, sealed: SealedCredential)? {
        let place = try database.first(
            """
            SELECT c.identity_id, u.user_hash, c.created_at, c.last_live_at, c.last_refresh_at
            FROM renewals w JOIN credentials c ON c.id = w.credential_id
              JOIN identities i ON i.id = c.identity_id JOIN users u ON u.id = i.owner
            WHERE w.credential_id = ? AND c.sealed_secret IS NOT NULL
            """,
            [.id(id)]
        ) { row in
            Place(
                identity: try row.identityID("identity_id"),
                userHash: row.blob("user_hash"),
                storedAt: row.time("created_at"),
                lastLiveAt: row.timeOrNil("last_live_at"),
                lastRefreshAt: row.timeOrNil("last_refresh_at")
            )
        }
        guard let place,
            let sealed = try VaultIdentity.find(place.identity, of: place.userHash, database)?
                .credentials[id]
        else { return nil }
        return (place, sealed)
    }
}
