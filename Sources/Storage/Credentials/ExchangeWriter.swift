import Engine
import Lifecycle

/// Writes phases of exchanges, and the tokens that exchanges and refreshes bring.
struct ExchangeWriter {
    let database: any StateConnection

    /// A final phase destroys the code, and returns what is known about the identity.
    func save(_ exchange: CodeExchange, at time: WallTime) throws -> IdentityUpdate? {
        try database.run(
            """
            UPDATE credentials SET code_phase = ?1, code_failures = ?2, code_is_in_doubt = ?5,
              code_answer = ?6,
              sealed_secret = CASE ?3 WHEN 1 THEN NULL ELSE sealed_secret END,
              sealed_code_verifier = CASE ?3 WHEN 1 THEN NULL ELSE sealed_code_verifier END
            WHERE id = ?4 AND code_phase IN ('pending', 'exchanging')
            """,
            [
                .text(exchange.phase.rawValue), .int(exchange.failures),
                .bool(exchange.phase.isFinal), .id(exchange.credential),
                .bool(exchange.isInDoubt), .text(exchange.answer?.columnText),
            ]
        )
        guard exchange.phase.isFinal, let userHash = try owner(of: exchange.identity) else {
            return nil
        }
        return try IdentityUpdate.tell(exchange.identity, of: userHash, at: time, database)
    }

    /// Destroys the code and stores what it was exchanged for.
    ///
    /// Tokens of another subject than the pinned one are another user's grant: they are not stored.
    /// The code counts as refused, so the identity waits for a sign-in of the right subject, and
    /// remembers that the provider honors tokens that were not stored.
    ///
    /// Returns `nil`, with nothing stored, when the identity is gone.
    func store(
        _ tokens: [SealedToken],
        _ subject: LearnedSubject?,
        of exchange: CodeExchange,
        at time: WallTime
    ) throws -> IdentityUpdate? {
        guard try owner(of: exchange.identity) != nil else { return nil }
        if let subject, try isForeign(subject, to: exchange.identity) {
            try noteMismatch(of: exchange.identity, at: time)
            var (refused, random) = (exchange, SeededGenerator(seed: 0))
            // Its commit is under way: there is nothing more to do.
            _ = refused.handle(.foreignSubject, now: time, random: &random)
            var update = try save(refused, at: time)
            update?.isSubjectMismatch = true
            return update
        }
        for token in tokens {
            try database.run(
                CredentialColumn.insertion + """
                     ON CONFLICT (identity_id, fingerprint) DO UPDATE SET
                      last_live_at = excluded.last_live_at, expires_at = excluded.expires_at,
                      is_from_code = 1
                    """,
                CredentialColumn.row([
                    .identityID: .id(exchange.identity), .kind: .text(token.kind.rawValue),
                    .rowNonce: .blob(token.rowNonce), .sealedSecret: .blob(token.sealedSecret),
                    .fingerprint: .blob(token.fingerprint), .createdAt: .time(time),
                    .lastLiveAt: .time(time), .expiresAt: .time(token.expiresAt),
                    .isFromCode: .bool(true),
                ])
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

    /// Replaces the secret of a credential; `nil` when the credential is gone.
    ///
    /// A token that is stored already stays where it is: it is durable, which is all that counts.
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
            UPDATE credentials SET row_nonce = ?1, sealed_secret = ?2, fingerprint = ?3,
              expires_at = ?4, last_live_at = ?5, last_refresh_at = ?5
            WHERE id = ?6 AND NOT EXISTS
              (SELECT 1 FROM credentials WHERE identity_id = ?7 AND fingerprint = ?3 AND id <> ?6)
            """,
            [
                .blob(token.rowNonce), .blob(token.sealedSecret), .blob(token.fingerprint),
                .time(token.expiresAt), .time(time), .id(credential), .id(identity),
            ]
        )
        return try IdentityUpdate.tell(identity, of: userHash, at: time, database)
    }

    private func pin(_ subject: LearnedSubject, to identity: IdentityID, at time: WallTime) throws {
        try database.run(
            """
            UPDATE identities SET
              subject_nonce = CASE WHEN subject_hash IS NULL THEN ?2 ELSE subject_nonce END,
              sealed_subject = CASE WHEN subject_hash IS NULL THEN ?3 ELSE sealed_subject END,
              subject_hash = coalesce(subject_hash, ?1), updated_at = ?4
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

extension LoadedExchange {
    /// A code that is not final; `nil` for any other credential.
    static func find(_ id: CredentialID, _ database: any StateConnection) throws -> LoadedExchange?
    {
        let found = try database.first(
            """
            SELECT c.identity_id, c.created_at, c.code_phase, c.code_is_in_doubt, c.code_failures,
              c.code_answer, i.provider, u.user_hash
            FROM credentials c JOIN identities i ON i.id = c.identity_id
              JOIN users u ON u.id = i.owner
            WHERE c.id = ? AND c.code_phase IN ('pending', 'exchanging')
            """,
            [.id(id)]
        ) { row in
            let exchange = CodeExchange(
                credential: id,
                identity: try row.identityID("identity_id"),
                provider: row.provider("provider"),
                createdAt: row.time("created_at"),
                phase: try row.choice("code_phase", as: CodeExchange.Phase.self),
                isInDoubt: row.bool("code_is_in_doubt"),
                failures: row.int("code_failures"),
                answer: try row.textOrNil("code_answer").map { try Refusal(columnText: $0) }
            )
            return (exchange: exchange, userHash: row.blob("user_hash"))
        }
        guard let (exchange, userHash) = found,
            var code = try VaultIdentity.find(exchange.identity, of: userHash, database)?
                .credentials[id]
        else { return nil }
        code.subject = nil
        return LoadedExchange(exchange: exchange, credential: code)
    }
}
