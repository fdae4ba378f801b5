import Engine
import GRDB
import Lifecycle

/// Writes the five-minute lane: phases of exchanges and the tokens that they bring.
struct ExchangeWriter {
    let database: Database

    /// Writes the phase; a final one destroys the code.
    ///
    /// - Returns: What is known about the identity after a final phase.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    func save(_ exchange: CodeExchange, at time: WallTime) throws -> IdentityUpdate? {
        try database.run(
            """
            UPDATE credentials SET code_phase = ?1, code_failures = ?2,
              sealed_secret = iif(?3, NULL, sealed_secret),
              sealed_code_verifier = iif(?3, NULL, sealed_code_verifier)
            WHERE id = ?4 AND code_phase IN ('pending', 'exchanging')
            """,
            .text(exchange.phase.rawValue),
            .int(exchange.failures),
            .bool(exchange.phase.isFinal),
            .int(exchange.credential.rowID)
        )
        guard exchange.phase.isFinal, let userHash = try owner(of: exchange.identity) else {
            return nil
        }
        return try IdentityUpdate.tell(exchange.identity, of: userHash, at: time, database)
    }

    /// Destroys the code and stores what it was exchanged for.
    ///
    /// Tokens of another subject than the pinned one are somebody else's grant: they are dropped
    /// unstored and nothing is ever revoked with them. The mismatch is noted, and the code counts
    /// as refused, so that the identity waits for a sign-in of the right subject. The identity
    /// remembers that the provider honors tokens that were not stored.
    ///
    /// - Returns: What is known about the identity now; `nil` when it is gone, with nothing stored.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
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
                .id(exchange.identity.value),
                .text(token.kind.rawValue),
                .blob(token.rowNonce),
                .blob(token.sealedSecret),
                .blob(token.fingerprint),
                .time(time),
                .time(token.expiresAt)
            )
        }
        // A cut that the clock has not reached was before: the clock is behind.
        try database.run(
            "UPDATE identities SET link_cut_at = NULL WHERE id = ?1 AND link_cut_at > ?2",
            .id(exchange.identity.value),
            .time(time)
        )
        if let subject { try pin(subject, to: exchange.identity, at: time) }
        return try save(exchange, at: time)
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
            .blob(subject.hash),
            .blob(subject.rowNonce),
            .blob(subject.sealed),
            .time(time),
            .id(identity.value)
        )
    }

    private func isForeign(_ subject: LearnedSubject, to identity: IdentityID) throws -> Bool {
        try database.first(
            "SELECT 1 FROM identities WHERE id = ? AND subject_hash <> ?",
            .id(identity.value),
            .blob(subject.hash)
        ) { _ in true } ?? false
    }

    private func noteMismatch(of identity: IdentityID, at time: WallTime) throws {
        try database.run(
            """
            UPDATE identities SET subject_mismatch_at = ?1, updated_at = ?1,
              refused_credentials = refused_credentials + 1
            WHERE id = ?2
            """,
            .time(time),
            .id(identity.value)
        )
    }

    private func owner(of identity: IdentityID) throws -> [UInt8]? {
        try database.first(
            "SELECT user_hash FROM identities i JOIN users u ON u.id = i.owner WHERE i.id = ?",
            .id(identity.value)
        ) {
            $0.blob(0)
        }
    }
}

extension CodeExchange {
    /// The same exchange, ended by a refusal.
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
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func find(_ id: CredentialID, _ database: Database) throws -> LoadedExchange? {
        try database.first(
            """
            SELECT c.identity_id, i.provider, c.created_at, c.code_phase, c.code_failures,
              i.client_id, u.user_hash, c.row_nonce, c.sealed_secret, c.sealed_code_verifier,
              c.redirect_uri,
              c.fingerprint, u.wrapped_key, u.key_id
            FROM credentials c JOIN identities i ON i.id = c.identity_id
              JOIN users u ON u.id = i.owner
            WHERE c.id = ? AND c.code_phase IN ('pending', 'exchanging')
            """,
            .int(id.rowID)
        ) { row in
            let provider = ProviderName(row.text(1))
            return LoadedExchange(
                exchange: CodeExchange(
                    credential: id,
                    identity: try row.identityID(0),
                    provider: provider,
                    createdAt: row.time(2),
                    phase: try row.choice(3, as: CodeExchange.Phase.self),
                    failures: row.int(4)
                ),
                credential: SealedCredential(
                    id: id,
                    kind: .authorizationCode,
                    provider: provider,
                    clientID: row.text(5),
                    userHash: row.blob(6),
                    rowNonce: row.blob(7),
                    sealedSecret: row.blob(8),
                    sealedCodeVerifier: row.blobOrNil(9),
                    redirectURI: row.textOrNil(10),
                    fingerprint: row.blob(11),
                    userKey: WrappedKey(bytes: row.blob(12), keyID: row.text(13))
                )
            )
        }
    }
}
