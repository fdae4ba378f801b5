import Lifecycle

/// Keeps the credentials of one identity within their bounds.
///
/// Where one revocation ends the whole grant, older tokens go. Elsewhere every token is kept until
/// it is revoked or refused: one that the service dropped would live on.
struct CredentialRoom {
    let database: any StateConnection
    let identity: IdentityID
    /// ``ProviderTraits/revokesWholeGrant`` of the identity's provider.
    let isWholeGrant: Bool
    let now: WallTime

    /// A spent code is remembered, so that it is not exchanged a second time.
    private static let spentCodeLifetime = Duration.seconds(30 * 86_400)

    /// Drops what no revocation needs, and returns whether there is room for one more token.
    func make() throws -> Bool {
        guard try tokenCount() >= Limits.credentialsPerGrantMax else { return true }
        // An open request works with what it has read.
        if try !hasOpenRequest() {
            try dropSpent()
            if isWholeGrant { try dropSuperseded() }
        }
        return try tokenCount() < Limits.credentialsPerIdentityMax
    }

    /// Spent codes and expired access tokens do not count.
    private func tokenCount() throws -> Int {
        try database.int(
            """
            SELECT count(*) FROM credentials WHERE identity_id = ? AND sealed_secret IS NOT NULL
              AND (expires_at IS NULL OR expires_at > ?)
            """,
            [.id(identity), .time(now)]
        )
    }

    private func hasOpenRequest() throws -> Bool {
        try database.has(
            """
            SELECT 1 FROM identities i JOIN users u ON u.id = i.owner
              JOIN requests r INDEXED BY requests_user ON r.user_hash = u.user_hash
            WHERE i.id = ? AND r.ended_at IS NULL LIMIT 1
            """,
            [.id(identity)]
        )
    }

    private func dropSpent() throws {
        try database.run(
            """
            DELETE FROM credentials WHERE identity_id = ?1
              AND ((kind = 'access_token' AND expires_at <= ?2)
                OR (code_phase IN ('exchanged', 'refused', 'expired') AND created_at < ?3))
            """,
            [.id(identity), .time(now), .time(now - Self.spentCodeLifetime)]
        )
    }

    /// Of the tokens of one account that were seen live; others may be of another grant.
    private func dropSuperseded() throws {
        try database.run(
            """
            DELETE FROM credentials WHERE id IN (
              SELECT c.id FROM credentials c JOIN identities i ON i.id = c.identity_id
              WHERE i.id = ?1 AND i.subject_hash IS NOT NULL AND c.last_live_at IS NOT NULL
                AND (c.kind = 'refresh_token' OR c.kind = 'access_token')
                AND (c.is_subject_known = 1 OR NOT \(VaultIdentity.hasOthers))
              ORDER BY c.last_live_at DESC, c.id DESC LIMIT -1 OFFSET ?2)
            """,
            [.id(identity), .int(Limits.credentialsPerGrantKept)]
        )
    }
}
