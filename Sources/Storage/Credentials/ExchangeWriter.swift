import Engine
import Lifecycle

/// Writes phases of exchanges, and the tokens that exchanges and refreshes bring.
struct ExchangeWriter {
    let database: any StateConnection
    let leaves: RequestLeaves

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
        guard exchange.phase.isFinal, let (userHash, _) = try owner(of: exchange.identity) else {
            return nil
        }
        return try IdentityUpdate.tell(exchange.identity, of: userHash, at: time, database)
    }

    /// Destroys the code and stores what it was exchanged for.
    ///
    /// Tokens of another subject than the pinned one go to an identity of their own. Where that may
    /// not join, they are not stored: the identity remembers that the provider honors some.
    ///
    /// Returns `nil`, with nothing stored, when the identity is gone.
    func store(
        _ tokens: [SealedToken],
        _ subject: LearnedSubject?,
        of exchange: CodeExchange,
        at time: WallTime
    ) throws -> IdentityUpdate? {
        guard let (userHash, clientID) = try owner(of: exchange.identity) else { return nil }
        let request = try deletionPastRevoking(userHash)
        let found = try account(of: subject, exchange, isTooLate: request != nil, at: time)
        let account = found?.id ?? exchange.identity
        if let request {
            try addToReceipt(of: request, account, exchange.provider, clientID, at: time)
            return try save(exchange, at: time)
        }
        let isNamed =
            try subject != nil
            || database.has(
                "SELECT 1 FROM credentials WHERE id = ? AND is_subject_known = 1",
                [.id(exchange.credential)]
            )
        for token in found == nil ? [] : tokens {
            if isNamed { try moveToken(token.fingerprint, to: account) }
            try database.run(
                CredentialColumn.insertion + """
                     ON CONFLICT (identity_id, fingerprint) DO UPDATE SET
                      last_live_at = excluded.last_live_at, expires_at = excluded.expires_at,
                      is_from_code = 1
                    """,
                CredentialColumn.row([
                    .identityID: .id(account), .kind: .text(token.kind.rawValue),
                    .rowNonce: .blob(token.rowNonce), .sealedSecret: .blob(token.sealedSecret),
                    .fingerprint: .blob(token.fingerprint), .createdAt: .time(time),
                    .lastLiveAt: .time(time), .expiresAt: .time(token.expiresAt),
                    .isFromCode: .bool(true), .isReauthorization: .bool(false),
                    .isSubjectKnown: .bool(isNamed),
                ])
            )
        }
        // A cut that the clock has not reached was before: the clock is behind.
        try database.run(
            """
            UPDATE identities SET updated_at = ?2, refused_credentials = refused_credentials + ?3,
              link_cut_at = CASE WHEN link_cut_at > ?2 THEN NULL ELSE link_cut_at END
            WHERE id = ?1
            """,
            [.id(account), .time(time), .int(found == nil ? 1 : 0)]
        )
        var update = try save(exchange, at: time)
        update?.isSubjectMismatch = found?.isNew ?? true
        if account != exchange.identity {
            let told = try IdentityUpdate.tell(account, of: userHash, at: time, database)
            update?.otherAccounts = [told].compactMap(\.self)
        }
        return update
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
        guard let identity, let (userHash, _) = try owner(of: identity) else { return nil }
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

    /// The identity of the subject, new if need be; `nil` where it may not join.
    ///
    /// Past revoking a new one is not stored: only the receipt names it.
    private func account(
        of subject: LearnedSubject?,
        _ exchange: CodeExchange,
        isTooLate: Bool,
        at time: WallTime
    ) throws -> (id: IdentityID, isNew: Bool)? {
        guard let subject else { return (exchange.identity, false) }
        let values: [SQLValue] = [
            .blob(subject.hash), .blob(subject.rowNonce), .blob(subject.sealed),
        ]
        let known = try database.first(
            """
            SELECT o.id FROM identities i JOIN identities o
              ON o.owner = i.owner AND o.provider = i.provider AND o.client_id = i.client_id
            WHERE i.id = ? AND (o.subject_hash = ? OR (o.id = i.id AND o.subject_hash IS NULL))
            ORDER BY o.subject_hash IS NULL LIMIT 1
            """,
            [.id(exchange.identity), .blob(subject.hash)]
        ) { try $0.identityID() }
        if let known {
            let count = try database.run(
                """
                UPDATE identities SET subject_hash = ?1, subject_nonce = ?2, sealed_subject = ?3
                WHERE id = ?4 AND subject_hash IS NULL
                """,
                values + [.id(known)]
            )
            if count > 0 { try markOther(known) }
            return (known, false)
        }
        // A stranger with the user's session may be who was asked to sign in.
        let isAsked = try database.has(
            "SELECT 1 FROM credentials WHERE id = ? AND is_reauthorization = 1",
            [.id(exchange.credential)]
        )
        guard !isAsked, try mayJoin(subject.hash, beside: exchange.identity) else { return nil }
        var random = SystemRandomNumberGenerator()
        let id = IdentityID(TimeOrderedID(at: time, entropy: &random))
        guard !isTooLate else { return (id, true) }
        try database.run(
            """
            INSERT INTO identities (\(IdentityColumn.names()))
            SELECT ?4, owner, provider, client_id, ?1, ?2, ?3, ?5, ?5 FROM identities WHERE id = ?6
            """,
            values + [.id(id), .time(time), .id(exchange.identity)]
        )
        try markOther(id)
        return (id, true)
    }

    private func owner(of identity: IdentityID) throws -> (userHash: [UInt8], clientID: String)? {
        try database.first(
            """
            SELECT u.user_hash, i.client_id FROM identities i JOIN users u ON u.id = i.owner
            WHERE i.id = ?
            """,
            [.id(identity)]
        ) { (userHash: $0.blob("user_hash"), clientID: $0.text("client_id")) }
    }
}

// MARK: - Accounts beside the first

extension ExchangeWriter {
    /// Whether an account may join those of an identity's user: not if another user has it.
    func mayJoin(_ subjectHash: [UInt8], beside identity: IdentityID) throws -> Bool {
        try !database.has(
            """
            SELECT 1 FROM identities i WHERE i.id = ?1 AND (
              EXISTS (SELECT 1 FROM identities o WHERE o.provider = i.provider
                AND o.subject_hash = ?2 AND o.owner <> i.owner)
              OR (SELECT count(DISTINCT o.subject_hash) FROM identities o
                WHERE o.owner = i.owner AND o.provider = i.provider) >= ?3)
            """,
            [.id(identity), .blob(subjectHash), .int(Limits.accountsMax)]
        )
    }

    /// Marks an account that comes beside the user's first; where none is left, it is the first.
    @discardableResult
    func markOther(_ identity: IdentityID) throws -> Bool {
        try database.run(
            """
            UPDATE identities SET is_other_account = 1 WHERE id = ?1 AND EXISTS (
              SELECT 1 FROM identities o WHERE o.owner = identities.owner
                AND o.provider = identities.provider AND o.is_other_account = 0
                AND o.subject_hash <> identities.subject_hash)
            """,
            [.id(identity)]
        ) > 0
    }

    /// A token that was stored without a subject is of the identity whose subject is named now.
    ///
    /// A code is exchanged where it is, and is named there alone.
    func moveToken(_ fingerprint: [UInt8], to identity: IdentityID) throws {
        try database.run(
            """
            UPDATE credentials SET identity_id = ?1, is_subject_known = 1
            WHERE is_subject_known = 0 AND id = (SELECT c.id FROM identities i JOIN identities o
                ON o.owner = i.owner AND o.provider = i.provider AND o.client_id = i.client_id
                JOIN credentials c ON c.identity_id = o.id AND c.fingerprint = ?2
              WHERE i.id = ?1 AND (c.code_phase IS NULL OR o.id = ?1)
              ORDER BY o.id <> ?1, c.is_subject_known, c.id LIMIT 1)
            """,
            [.id(identity), .blob(fingerprint)]
        )
    }

    /// From purging on nothing joins any more: the secret would outlive the account.
    func deletionPastRevoking(_ userHash: [UInt8]) throws -> RequestID? {
        try database.requestIDs(
            """
            SELECT id FROM requests INDEXED BY requests_user WHERE user_hash = ? AND slot = x''
              AND phase IN ('purging', 'verifying')
            """,
            [.blob(userHash)]
        ).first
    }

    /// The verdicts are final by then; the provider may honor what is refused now.
    func addToReceipt(
        of request: RequestID,
        _ identity: IdentityID,
        _ provider: ProviderName,
        _ clientID: String,
        at time: WallTime
    ) throws {
        let addendum = Addendum(
            identity: identity,
            provider: provider,
            clientID: clientID,
            verdict: .unconfirmed,
            event: Addendum.refusedCredential,
            occurredAt: time,
            recordedAt: time
        )
        try addendum.add(to: request, leaves, database)
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
