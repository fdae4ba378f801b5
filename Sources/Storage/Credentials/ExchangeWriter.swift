import Engine
import GRDB
import Lifecycle

/// Writes phases of exchanges, and the tokens that exchanges and refreshes bring.
struct ExchangeWriter {
    let database: Database

    /// Writes the phase; a final one destroys the code.
    ///
    /// Returns what is known about the identity after a final phase.
    func save(_ exchange: CodeExchange, at time: WallTime) throws -> IdentityUpdate? {
        try database.run(
            """
            UPDATE credentials SET code_phase = ?1, code_failures = ?2, code_is_in_doubt = ?5,
              sealed_secret = iif(?3, NULL, sealed_secret),
              sealed_code_verifier = iif(?3, NULL, sealed_code_verifier)
            WHERE id = ?4 AND code_phase IN ('pending', 'exchanging')
            """,
            [
                .text(exchange.phase.rawValue), .int(exchange.failures),
                .bool(exchange.phase.isFinal), .id(exchange.credential),
                .bool(exchange.isInDoubt),
            ]
        )
        guard exchange.phase.isFinal, let userHash = try owner(of: exchange.identity) else {
            return nil
        }
        return try IdentityUpdate.tell(exchange.identity, of: userHash, at: time, database)
    }

    /// Destroys the code and stores what it was exchanged for.
    ///
    /// Tokens of another subject than the pinned one are another user's grant: they are dropped
    /// unstored and nothing is ever revoked with them. The mismatch is noted, and the code counts
    /// as refused, so that the identity waits for a sign-in of the right subject. The identity
    /// remembers that the provider honors tokens that were not stored.
    ///
    /// Returns what is known about the identity now; `nil` when it is gone, with nothing stored.
    func store(
        _ tokens: [SealedToken],
        _ subject: LearnedSubject?,
        of exchange: CodeExchange,
        at time: WallTime
    ) throws -> IdentityUpdate? {
        guard try owner(of: exchange.identity) != nil else { return nil }
        if let subject, try isForeign(subject, to: exchange.identity) {
            try noteMismatch(of: exchange.identity, at: time)
            var update = try save(exchange.refused, at: time)
            update?.isSubjectMismatch = true
            return update
        }
        for token in tokens {
            try database.run(
                """
                INSERT INTO credentials (identity_id, kind, row_nonce, sealed_secret, fingerprint,
                  created_at, last_live_at, expires_at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
                ON CONFLICT DO UPDATE SET last_live_at = excluded.last_live_at,
                  expires_at = excluded.expires_at
                """,
                [
                    .id(exchange.identity), .text(token.kind.rawValue), .blob(token.rowNonce),
                    .blob(token.sealedSecret), .blob(token.fingerprint), .time(time),
                    .time(token.expiresAt),
                ]
            )
        }
        // A cut that the clock has not reached was before: the clock is behind.
        try database.run(
            "UPDATE identities SET link_cut_at = NULL WHERE id = ?1 AND link_cut_at > ?2",
            [.id(exchange.identity), .time(time)]
        )
        if let subject { try pin(subject, to: exchange.identity, at: time) }
        return try save(exchange, at: time)
    }

    /// Replaces the secret of a credential, which stays the same for every request that knows it.
    ///
    /// A token that is stored already stays where it is: it is durable, which is all that counts.
    ///
    /// Returns what is known about the identity now; `nil` when the credential is gone.
    func replace(
        _ credential: CredentialID,
        by token: SealedToken,
        at time: WallTime
    ) throws -> IdentityUpdate? {
        let identity = try database.first(
            "SELECT identity_id FROM credentials WHERE id = ?",
            [.id(credential)]
        ) { try $0.identityID() }
        guard let identity, let userHash = try owner(of: identity) else { return nil }
        try database.run(
            """
            UPDATE OR IGNORE credentials SET row_nonce = ?1, sealed_secret = ?2, fingerprint = ?3,
              expires_at = ?4, last_live_at = ?5, last_refresh_at = ?5
            WHERE id = ?6
            """,
            [
                .blob(token.rowNonce), .blob(token.sealedSecret), .blob(token.fingerprint),
                .time(token.expiresAt), .time(time), .id(credential),
            ]
        )
        return try IdentityUpdate.tell(identity, of: userHash, at: time, database)
    }

    private func pin(_ subject: LearnedSubject, to identity: IdentityID, at time: WallTime) throws {
        try database.run(
            """
            UPDATE identities SET
              subject_nonce = iif(subject_hash IS NULL, ?2, subject_nonce),
              sealed_subject = iif(subject_hash IS NULL, ?3, sealed_subject),
              subject_hash = ifnull(subject_hash, ?1), updated_at = ?4
            WHERE id = ?5
            """,
            [
                .blob(subject.hash), .blob(subject.rowNonce), .blob(subject.sealed), .time(time),
                .id(identity),
            ]
        )
    }

    private func isForeign(_ subject: LearnedSubject, to identity: IdentityID) throws -> Bool {
        try database.has(
            "SELECT 1 FROM identities WHERE id = ? AND subject_hash <> ?",
            [.id(identity), .blob(subject.hash)]
        )
    }

    private func noteMismatch(of identity: IdentityID, at time: WallTime) throws {
        try database.run(
            """
            UPDATE identities SET subject_mismatch_at = ?1, updated_at = ?1,
              refused_credentials = refused_credentials + 1
            WHERE id = ?2
            """,
            [.time(time), .id(identity)]
        )
    }

    private func owner(of identity: IdentityID) throws -> [UInt8]? {
        try database.first(
            "SELECT user_hash FROM identities i JOIN users u ON u.id = i.owner WHERE i.id = ?",
            [.id(identity)]
        ) { $0.blob() }
    }
}

extension CodeExchange {
    fileprivate var refused: CodeExchange {
        CodeExchange(
            credential: credential,
            identity: identity,
            provider: provider,
            createdAt: createdAt,
            phase: .refused,
            failures: failures
        )
    }
}

extension LoadedExchange {
    /// A code that is not final; `nil` for any other credential.
    static func find(_ id: CredentialID, _ database: Database) throws -> LoadedExchange? {
        try database.first(
            """
            SELECT c.identity_id, i.provider, c.created_at, c.code_phase, c.code_is_in_doubt,
              c.code_failures,
              i.client_id, u.user_hash, c.row_nonce, c.sealed_secret, c.sealed_code_verifier,
              c.redirect_uri,
              c.fingerprint, u.wrapped_key, u.key_id
            FROM credentials c JOIN identities i ON i.id = c.identity_id
              JOIN users u ON u.id = i.owner
            WHERE c.id = ? AND c.code_phase IN ('pending', 'exchanging')
            """,
            [.id(id)]
        ) { row in
            let provider = row.provider("provider")
            return LoadedExchange(
                exchange: CodeExchange(
                    credential: id,
                    identity: try row.identityID("identity_id"),
                    provider: provider,
                    createdAt: row.time("created_at"),
                    phase: try row.choice("code_phase", as: CodeExchange.Phase.self),
                    isInDoubt: row.bool("code_is_in_doubt"),
                    failures: row.int("code_failures")
                ),
                credential: SealedCredential(
                    id: id,
                    kind: .authorizationCode,
                    provider: provider,
                    clientID: row.text("client_id"),
                    userHash: row.blob("user_hash"),
                    rowNonce: row.blob("row_nonce"),
                    sealedSecret: row.blob("sealed_secret"),
                    sealedCodeVerifier: row.blobOrNil("sealed_code_verifier"),
                    redirectURI: row.textOrNil("redirect_uri"),
                    fingerprint: row.blob("fingerprint"),
                    userKey: WrappedKey(bytes: row.blob("wrapped_key"), keyID: row.text("key_id"))
                )
            )
        }
    }
}
