import Engine
import GRDB
import Lifecycle

/// Puts a rotated refresh token in the place of the one that it replaces.
struct TokenRotation {
    let database: Database

    /// Replaces the secret of a credential, which stays the same for every request that knows it.
    ///
    /// A token that is stored already stays where it is: it is durable, which is all that counts.
    ///
    /// - Returns: What is known about the identity now; `nil` when the credential is gone.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    func replace(
        _ credential: CredentialID,
        by token: SealedToken,
        at time: WallTime
    ) throws -> IdentityUpdate? {
        let owner = try database.first(
            """
            SELECT i.id, u.user_hash FROM credentials c JOIN identities i ON i.id = c.identity_id
              JOIN users u ON u.id = i.owner
            WHERE c.id = ?
            """,
            .int(credential.rowID)
        ) { (try $0.identityID(0), $0.blob(1)) }
        guard let (identity, userHash) = owner else { return nil }
        try database.run(
            """
            UPDATE OR IGNORE credentials SET row_nonce = ?1, sealed_secret = ?2, fingerprint = ?3,
              expires_at = ?4, last_live_at = ?5, last_refresh_at = ?5
            WHERE id = ?6
            """,
            .blob(token.rowNonce),
            .blob(token.sealedSecret),
            .blob(token.fingerprint),
            .time(token.expiresAt),
            .time(time),
            .int(credential.rowID)
        )
        return try IdentityUpdate.tell(identity, of: userHash, at: time, database)
    }
}
