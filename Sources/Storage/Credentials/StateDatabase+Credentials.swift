package import Engine
package import Lifecycle
import Synchronization

extension StateDatabase {
    /// `nil` when the user has no data key yet.
    package func userKey(_ userHash: [UInt8]) async throws -> WrappedKey? {
        try await read { try CredentialWriter.userKey(userHash, $0) }
    }

    /// Sets where one revocation ends the whole grant, so that older tokens there may go.
    package func noteWholeGrants(_ providers: Set<ProviderName>) {
        wholeGrants.withLock { $0 = providers }
    }

    /// In order, all in one commit.
    package func storeCredentials(
        _ credentials: [NewCredential],
        now: WallTime,
        newID: @escaping @Sendable () -> IdentityID
    ) async throws -> [CredentialOutcome] {
        let (wholeGrants, isShared) = (wholeGrants.withLock { $0 }, backend.isShared)
        return try await write { database, appender in
            let writer = CredentialWriter(
                database: database,
                isShared: isShared,
                now: now,
                wholeGrants: wholeGrants,
                newID: newID,
                appender: appender
            )
            return try credentials.map { try writer.take($0) }
        }
    }
}

private struct CredentialWriter {
    let database: any StateConnection
    /// Whether another host may work on the user's requests.
    let isShared: Bool
    let now: WallTime
    let wholeGrants: Set<ProviderName>
    let newID: @Sendable () -> IdentityID
    let appender: LedgerAppender
    private var accounts: ExchangeWriter {
        ExchangeWriter(database: database, leaves: RequestLeaves(appender: appender))
    }

    private struct Identity {
        let id: IdentityID
        let subjectHash: [UInt8]?
        /// It is made now, for an account beside the user's first.
        var isOtherAccount = false

        func isOther(than subject: LearnedSubject?) -> Bool {
            guard let subject, let subjectHash else { return false }
            return subject.hash != subjectHash
        }
    }

    static func userKey(_ userHash: [UInt8], _ database: any StateConnection) throws -> WrappedKey?
    {
        try database.first(
            "SELECT wrapped_key, key_id FROM users WHERE user_hash = ?",
            [.blob(userHash)]
        ) { WrappedKey(bytes: $0.blob("wrapped_key"), keyID: $0.text("key_id")) }
    }

    /// A sign-in that nothing was stored for stays unused: the user need not sign in again.
    func take(_ new: NewCredential) throws -> CredentialOutcome {
        guard let signIn = new.signIn else { return try takeAlone(new) }
        try database.run("SAVEPOINT sign_in")
        let outcome = try isUnused(signIn) ? takeAlone(new) : .signInUsed
        if case .stored = outcome {} else { try database.run("ROLLBACK TO sign_in") }
        try database.run("RELEASE sign_in")
        return outcome
    }

    private func isUnused(_ signIn: ProvenSignIn) throws -> Bool {
        switch try StateDatabase.record(signIn, at: now, database) {
        case .recorded: true
        case .usedBefore: false
        case .subjectUnknown, .otherSubject:
            // Good for the one identity that it was compared with; no proof of the user.
            try StateDatabase.use(signIn.fingerprint, until: signIn.expiresAt, at: now, database)
        }
    }

    private func takeAlone(_ new: NewCredential) throws -> CredentialOutcome {
        let imports = SpoolImports(database: database, source: .credentials)
        guard let row = new.spoolRow else { return try store(new) }
        let known = try imports.known(of: row)
        if let before = known.same {
            guard case .rejected(let text) = before else { return .importedBefore }
            return CredentialRejectReason(rawValue: text).map { .rejected($0) } ?? .importedBefore
        }
        let outcome = try store(new)
        switch outcome {
        case .stored: try imports.add(row, .stored, known: known, at: now)
        case .rejected(let reason), .refused(let reason, _):
            try imports.add(row, .rejected(reason.rawValue), known: known, at: now)
        case .otherKey, .keyGone, .importedBefore, .signInUsed: break
        }
        return outcome
    }

    private func store(_ new: NewCredential) throws -> CredentialOutcome {
        if let request = try accounts.deletionPastRevoking(new.userHash) {
            try addToReceipt(of: request, new)
            return .rejected(.deletionInProgress)
        }
        let key = try Self.userKey(new.userHash, database)
        if let key, key != new.userKey { return .otherKey(key) }
        if key == nil, new.isUserKeyStored { return .keyGone }
        let known = try find(new)
        if let reason = new.refusal {
            let identity = try known?.id ?? identityOfRefused(new)
            return try refuse(reason, new, identity)
        }
        if let known, known.isOther(than: new.subject) { return try storeApart(new, known) }
        return try store(new, in: known ?? insertIdentity(new))
    }

    /// Another account than those that the user has gets an identity of its own.
    private func storeApart(_ new: NewCredential, _ known: Identity) throws -> CredentialOutcome {
        if new.kind == .authorizationCode, !new.isReauthorization,
            try credential(of: known.id, new.fingerprint) != nil
        {
            // It was stored before the subject was named, and is exchanged once.
            return try store(new, in: known)
        }
        // An id token shows who signed in: it adds no account.
        guard let subject = new.subject, !new.isReauthorization, new.kind != .idToken,
            try accounts.mayJoin(subject.hash, beside: known.id)
        else { return try refuse(.subjectMismatch, new, known.id) }
        return try store(new, in: insertIdentity(new))
    }

    private func store(_ new: NewCredential, in identity: Identity) throws -> CredentialOutcome {
        if new.subject != nil, !identity.isOther(than: new.subject) {
            try accounts.moveToken(new.fingerprint, to: identity.id)
        }
        let duplicate = try credential(of: identity.id, new.fingerprint)
        guard try duplicate != nil || hasRoom(identity.id, at: new.provider) else {
            return try refuse(.tooManyCredentials, new, identity.id)
        }
        let isFirst = try pin(new.subject, to: identity)
        return try stored(
            new,
            identity,
            duplicate ?? insert(new, into: identity.id),
            isDuplicate: duplicate != nil,
            isFirstSeen: isFirst
        )
    }

    private func addToReceipt(of request: RequestID, _ new: NewCredential) throws {
        // A reauthorization is refused before it comes here, and would be rolled back.
        guard new.signIn == nil else { return }
        let known = try find(new)
        if let known, try credential(of: known.id, new.fingerprint) != nil { return }
        let own = known.flatMap { $0.isOther(than: new.subject) ? nil : $0.id } ?? newID()
        try accounts.addToReceipt(of: request, own, new.provider, new.clientID, at: now)
    }

    /// The identity that has the code, else that of the subject, else the one that has the token,
    /// else the one that changed last.
    private func find(_ new: NewCredential) throws -> Identity? {
        try database.first(
            """
            SELECT i.id, i.subject_hash FROM users u JOIN identities i ON i.owner = u.id
              LEFT JOIN credentials c ON c.identity_id = i.id AND c.fingerprint = ?4
            WHERE u.user_hash = ?1 AND i.provider = ?2 AND i.client_id = ?3
            ORDER BY CASE WHEN c.code_phase IS NOT NULL THEN 0 WHEN i.subject_hash = ?5 THEN 1
              WHEN c.id IS NOT NULL THEN 2 ELSE 3 END, i.updated_at DESC, i.id DESC LIMIT 1
            """,
            [
                .blob(new.userHash), .text(new.provider.rawValue), .text(new.clientID),
                .blob(new.fingerprint), .blob(new.subject?.hash),
            ]
        ) { Identity(id: try $0.identityID("id"), subjectHash: $0.blobOrNil("subject_hash")) }
    }

    private func credential(of identity: IdentityID, _ fingerprint: [UInt8]) throws -> CredentialID?
    {
        try database.first(
            "SELECT id FROM credentials WHERE identity_id = ? AND fingerprint = ?",
            [.id(identity), .blob(fingerprint)]
        ) { $0.credentialID() }
    }

    private func hasRoom(_ identity: IdentityID, at provider: ProviderName) throws -> Bool {
        try CredentialRoom(
            database: database,
            identity: identity,
            isWholeGrant: wholeGrants.contains(provider),
            now: now
        ).make()
    }

    /// Remembers that the provider may honor a credential that is not stored.
    private func refuse(
        _ reason: CredentialRejectReason,
        _ new: NewCredential,
        _ identity: IdentityID
    ) throws -> CredentialOutcome {
        try database.run(
            "UPDATE identities SET refused_credentials = refused_credentials + 1 WHERE id = ?",
            [.id(identity)]
        )
        guard let update = try tell(identity, of: new.userHash) else {
            throw StorageError.malformed("identity")
        }
        return .refused(reason, update)
    }

    /// Makes an identity for what is refused, within bounds: applications choose the names.
    private func identityOfRefused(_ new: NewCredential) throws -> IdentityID {
        let others = try database.all(
            """
            SELECT i.id FROM users u JOIN identities i ON i.owner = u.id
            WHERE u.user_hash = ? AND i.refused_credentials > 0
              AND NOT EXISTS (SELECT 1 FROM credentials c WHERE c.identity_id = i.id)
            ORDER BY i.id
            """,
            [.blob(new.userHash)]
        ) { try $0.identityID() }
        guard others.count >= Limits.refusedIdentitiesMax, let last = others.last else {
            return try insertIdentity(new).id
        }
        return last
    }

    private func insertIdentity(_ new: NewCredential) throws -> Identity {
        let isNewUser = try database.run(
            UserColumn.insertion + " ON CONFLICT DO NOTHING",
            UserColumn.row([
                .userHash: .blob(new.userHash), .wrappedKey: .blob(new.userKey.bytes),
                .keyID: .text(new.userKey.keyID), .idNonce: .blob(new.userID.rowNonce),
                .sealedID: .blob(new.userID.sealed),
            ])
        )
        if isNewUser > 0 {
            try StateDatabase.countWraps(1, by: new.userKey.keyID, database)
        }
        let id = newID()
        try database.run(
            IdentityColumn.insertion,
            [
                .id(id), .blob(new.userHash), .text(new.provider.rawValue),
                .text(new.clientID), .blob(new.subject?.hash), .blob(new.subject?.rowNonce),
                .blob(new.subject?.sealed), .time(now),
            ]
        )
        let isOther = try accounts.markOther(id)
        return Identity(id: id, subjectHash: new.subject?.hash, isOtherAccount: isOther)
    }

    /// Returns whether an identity that had no subject has one now.
    private func pin(_ subject: LearnedSubject?, to identity: Identity) throws -> Bool {
        guard let subject, identity.subjectHash == nil else { return false }
        try database.run(
            """
            UPDATE identities SET subject_hash = ?1, subject_nonce = ?2, sealed_subject = ?3,
              subject_first_seen_at = ?4, updated_at = ?4
            WHERE id = ?5
            """,
            [
                .blob(subject.hash), .blob(subject.rowNonce), .blob(subject.sealed), .time(now),
                .id(identity.id),
            ]
        )
        try accounts.markOther(identity.id)
        return true
    }

    private func insert(_ new: NewCredential, into identity: IdentityID) throws -> CredentialID {
        let isCode = new.kind == .authorizationCode
        let id = try database.first(
            CredentialColumn.insertion + " RETURNING id",
            CredentialColumn.row([
                .identityID: .id(identity), .kind: .text(new.kind.rawValue),
                .rowNonce: .blob(new.rowNonce), .sealedSecret: .blob(new.sealedSecret),
                .sealedCodeVerifier: .blob(new.sealedCodeVerifier),
                .redirectURI: .text(new.redirectURI), .fingerprint: .blob(new.fingerprint),
                .createdAt: .time(min(new.createdAt, now)), .expiresAt: .time(new.expiresAt),
                .isFromCode: .bool(false), .isReauthorization: .bool(new.isReauthorization),
                .isSubjectKnown: .bool(new.subject != nil),
                .codePhase: isCode ? .text(CodeExchange.Phase.pending.rawValue) : .null,
            ])
        ) { $0.credentialID() }
        guard let id else { throw StorageError.malformed("credential") }
        // A cut that the clock has not reached was before what arrives now: the clock is behind.
        try database.run(
            """
            UPDATE identities SET updated_at = ?1,
              link_cut_at = CASE WHEN link_cut_at > ?1 THEN NULL ELSE link_cut_at END
            WHERE id = ?2
            """,
            [.time(now), .id(identity)]
        )
        return id
    }

    private func stored(
        _ new: NewCredential,
        _ identity: Identity,
        _ credential: CredentialID,
        isDuplicate: Bool,
        isFirstSeen: Bool
    ) throws -> CredentialOutcome {
        guard var update = try tell(identity.id, of: new.userHash) else {
            throw StorageError.malformed("identity")
        }
        update.isSubjectMismatch = identity.isOtherAccount
        let shared = update.snapshot.isShared ? try sharedUpdate(with: identity.id) : []
        return .stored(
            StoredCredential(
                identity: identity.id,
                credential: credential,
                isDuplicate: isDuplicate,
                isSubjectFirstSeen: isFirstSeen,
                exchange: try LoadedExchange.find(credential, database),
                update: update,
                sharedUpdate: shared
            )
        )
    }

    private func sharedUpdate(with identity: IdentityID) throws -> [IdentityUpdate] {
        let others = try database.all(
            """
            SELECT o.id, u.user_hash FROM identities i JOIN identities o
              ON o.provider = i.provider AND o.subject_hash = i.subject_hash AND o.owner <> i.owner
              JOIN users u ON u.id = o.owner
            WHERE i.id = ? AND i.subject_hash IS NOT NULL LIMIT 100
            """,
            [.id(identity)]
        ) { (id: try $0.identityID("id"), userHash: $0.blob("user_hash")) }
        return try others.compactMap {
            try tell($0.id, of: $0.userHash)
        }.filter { !$0.openRequests.isEmpty }
    }

    private func tell(_ identity: IdentityID, of userHash: [UInt8]) throws -> IdentityUpdate? {
        try IdentityUpdate.tell(identity, of: userHash, at: now, isShared: isShared, database)
    }
}

enum UserColumn: Int32, Columns {
    case userHash, wrappedKey, keyID, idNonce, sealedID

    static let insertion = insertion(of: allCases, into: "users")
}

enum IdentityColumn: Int32, Columns {
    case id, owner, provider, clientID, subjectHash, subjectNonce, sealedSubject
    case createdAt, updatedAt

    /// The second value is the keyed hash of the owner.
    static let insertion = """
        INSERT INTO identities (\(names()))
        VALUES (?1, (SELECT id FROM users WHERE user_hash = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?8)
        """
}

enum CredentialColumn: Int32, Columns {
    case identityID, kind, rowNonce, sealedSecret, sealedCodeVerifier, redirectURI, fingerprint
    case createdAt, lastLiveAt, expiresAt, isFromCode, isReauthorization, codePhase
    case isSubjectKnown

    static let insertion = insertion(of: allCases, into: "credentials")
}
