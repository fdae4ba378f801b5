import Engine
import Lifecycle

/// One identity of a user with its sealed credentials, as the vault's tables have it now.
struct VaultIdentity {
    let snapshot: IdentitySnapshot
    let credentials: [CredentialID: SealedCredential]

    /// An identity is made with its first credential; one without has lost them to an earlier
    /// request, which may have ended without cutting the link.
    static let hadCredentials = true

    private enum Column: Int32, Columns {
        case identityID, provider, clientID, subjectHash, subjectNonce, sealedSubject, linkCutAt
        case isOtherAccount, refusedCredentials, wrappedKey, keyID
        case credentialID, kind, rowNonce, sealedSecret, sealedCodeVerifier, redirectURI
        case fingerprint, createdAt, lastLiveAt, lastRefreshAt, isInDoubt, isFromCode, codePhase
        case isSubjectKnown, hadOthers, isOneOfSeveral

        static let selection = makeSelection([
            .identityID: "i.id", .credentialID: "c.id", .createdAt: "c.created_at",
            .isInDoubt:
                "CASE WHEN c.refresh_begun_at > coalesce(c.last_live_at, 0) THEN 1 ELSE 0 END",
            .isOneOfSeveral: "CASE WHEN \(hasOthers) THEN 1 ELSE 0 END",
        ])
    }

    /// Whether the user has, or had, another account at the client of the identity `i`.
    static let hasOthers = """
        (i.had_others = 1 OR EXISTS (SELECT 1 FROM identities o WHERE o.owner = i.owner
          AND o.provider = i.provider AND o.client_id = i.client_id AND o.id <> i.id))
        """

    /// All identities of a user, the oldest first.
    static func all(of userHash: [UInt8], _ database: any StateConnection) throws -> [VaultIdentity]
    {
        try all("", [.blob(userHash)], of: userHash, database)
    }

    static func find(
        _ id: IdentityID,
        of userHash: [UInt8],
        _ database: any StateConnection
    ) throws -> VaultIdentity? {
        try all("AND i.id = ?", [.blob(userHash), .id(id)], of: userHash, database).first
    }

    private static func all(
        _ condition: String,
        _ values: [SQLValue],
        of userHash: [UInt8],
        _ database: any StateConnection
    ) throws -> [VaultIdentity] {
        let rows = try database.all(
            Column.self,
            """
            FROM users u JOIN identities i ON i.owner = u.id
              LEFT JOIN credentials c ON c.identity_id = i.id
            WHERE u.user_hash = ? \(condition)
            """,
            values
        ) { try Entry($0, userHash: userHash) }
        return try assemble(rows, userHash: userHash, database)
    }

    static func credentials(of identities: [VaultIdentity]) -> [CredentialID: SealedCredential] {
        var all: [CredentialID: SealedCredential] = [:]
        for identity in identities { all.merge(identity.credentials) { $1 } }
        return all
    }

    private static func assemble(
        _ rows: [Entry],
        userHash: [UInt8],
        _ database: any StateConnection
    ) throws -> [VaultIdentity] {
        let groups = Dictionary(grouping: rows, by: \.identity)
        return try groups.sorted { $0.key.value < $1.key.value }.map { identity, rows in
            let isShared = try rows[0].subjectHash.map {
                try Self.isShared(rows[0].provider, subjectHash: $0, userHash: userHash, database)
            }
            let works = works(rows)
            let sealed = rows.compactMap(\.sealed).map { ($0.id, $0) }
            var snapshot = IdentitySnapshot(
                identity: identity,
                provider: rows[0].provider,
                clientID: rows[0].clientID,
                isShared: isShared ?? false,
                credentials: works,
                hadCredentials: hadCredentials,
                isCut: isCut(rows)
            )
            snapshot.refusedCount = rows[0].refusedCount
            snapshot.isOtherAccount = rows[0].isOtherAccount
            snapshot.hadOthers = rows[0].hadOthers
            snapshot.subjectHash = rows[0].subjectHash
            return VaultIdentity(snapshot: snapshot, credentials: Dictionary(sealed) { $1 })
        }
    }

    /// A code lost after every token of its account was last seen live may be of another grant.
    private static func works(_ rows: [Entry]) -> [CredentialWork] {
        let own = rows.compactMap(\.work).filter { !($0.isUnnamed && rows[0].isOneOfSeveral) }
        let liveAt = own.compactMap(\.lastLiveAt).max() ?? .distantPast
        return rows.compactMap { row in
            guard var work = row.work else { return nil }
            if work.step == .lost, let madeAt = row.freshAt, madeAt > liveAt {
                work.rotation = .inDoubt
            }
            return work
        }.sorted { $0.id < $1.id }
    }

    /// A refused credential may be newer than the cut, and so may the token of a code whose
    /// exchange was lost.
    private static func isCut(_ rows: [Entry]) -> Bool {
        guard let cutAt = rows[0].linkCutAt, rows[0].refusedCount == 0 else { return false }
        return rows.allSatisfy { row in row.freshAt.map { $0 <= cutAt } ?? true }
    }

    private static func isShared(
        _ provider: ProviderName,
        subjectHash: [UInt8],
        userHash: [UInt8],
        _ database: any StateConnection
    ) throws -> Bool {
        try database.has(
            """
            SELECT 1 FROM identities i JOIN users u ON u.id = i.owner
            WHERE i.provider = ? AND i.subject_hash = ? AND u.user_hash <> ? LIMIT 1
            """,
            [.text(provider.rawValue), .blob(subjectHash), .blob(userHash)]
        )
    }
}

extension VaultIdentity {
    /// One row: an identity with one of its credentials, if it has any.
    private struct Entry {
        let identity: IdentityID
        let provider: ProviderName
        let clientID: String
        let subjectHash: [UInt8]?
        let work: CredentialWork?
        /// `nil` also for a code that is spent: its secret is destroyed.
        let sealed: SealedCredential?
        let linkCutAt: WallTime?
        let refusedCount: Int
        let isOtherAccount: Bool
        let hadOthers: Bool
        let isOneOfSeveral: Bool
        /// When the credential was stored or last seen alive; `nil` for a spent one.
        let freshAt: WallTime?

        init(_ row: Row<Column>, userHash: [UInt8]) throws {
            identity = try row.identityID(.identityID)
            provider = row.provider(.provider)
            clientID = row.text(.clientID)
            subjectHash = row.blobOrNil(.subjectHash)
            linkCutAt = row.timeOrNil(.linkCutAt)
            refusedCount = row.int(.refusedCredentials)
            isOtherAccount = row.bool(.isOtherAccount)
            hadOthers = row.bool(.hadOthers)
            isOneOfSeveral = row.bool(.isOneOfSeveral)
            let isLost = row.textOrNil(.codePhase) == CodeExchange.Phase.unknown.rawValue
            freshAt =
                row.isNull(.sealedSecret) && !isLost
                ? nil : max(row.time(.createdAt), row.timeOrNil(.lastLiveAt) ?? .distantPast)
            guard !row.isNull(.credentialID) else {
                work = nil
                sealed = nil
                return
            }
            let id = row.credentialID(.credentialID)
            let kind = try row.choice(.kind, as: CredentialKind.self)
            let code = try row.choiceOrNil(.codePhase, as: CodeExchange.Phase.self)
            work = CredentialWork(
                id: id,
                kind: kind,
                step: Self.step(kind, code),
                rotation: row.bool(.isInDoubt) ? .inDoubt : .settled,
                isUnnamed: !row.bool(.isSubjectKnown),
                // A token that was live before the cut says nothing about what came after it.
                lastLiveAt: row.timeOrNil(.lastLiveAt).flatMap { [linkCutAt] liveAt in
                    liveAt <= linkCutAt ?? .distantPast ? nil : liveAt
                },
                lastRefreshAt: row.timeOrNil(.lastRefreshAt)
            )
            guard let secret = row.blobOrNil(.sealedSecret) else {
                sealed = nil
                return
            }
            var sealed = SealedCredential(
                id: id,
                kind: kind,
                provider: provider,
                clientID: clientID,
                userHash: userHash,
                rowNonce: row.blob(.rowNonce),
                sealedSecret: secret,
                sealedCodeVerifier: row.blobOrNil(.sealedCodeVerifier),
                redirectURI: row.textOrNil(.redirectURI),
                fingerprint: row.blob(.fingerprint),
                userKey: WrappedKey(bytes: row.blob(.wrappedKey), keyID: row.text(.keyID))
            )
            sealed.isFromCode = row.bool(.isFromCode)
            if let subjectHash, let nonce = row.blobOrNil(.subjectNonce),
                let subject = row.blobOrNil(.sealedSubject)
            {
                sealed.subject = LearnedSubject(
                    hash: subjectHash,
                    rowNonce: nonce,
                    sealed: subject
                )
            }
            self.sealed = sealed
        }

        /// How a request that never saw the credential begins with it.
        private static func step(
            _ kind: CredentialKind,
            _ code: CodeExchange.Phase?
        ) -> CredentialStep {
            switch kind {
            case .authorizationCode:
                switch code {
                case .pending?, .exchanging?: .codePending
                case .unknown?: .lost
                case .exchanged?, .refused?, .expired?, nil: .unusable
                }
            case .refreshToken, .accessToken: .stored
            case .idToken, .subject: .unusable
            }
        }
    }
}

extension IdentityUpdate {
    /// Makes the user's open requests due; `nil` when the identity is gone.
    ///
    /// With `isShared`, another host may work on the requests, and learns of it.
    static func tell(
        _ identity: IdentityID,
        of userHash: [UInt8],
        at now: WallTime,
        isShared: Bool = false,
        _ database: any StateConnection
    ) throws -> IdentityUpdate? {
        guard let found = try VaultIdentity.find(identity, of: userHash, database) else {
            return nil
        }
        let open = try database.requestIDs(
            """
            SELECT id FROM requests INDEXED BY requests_user WHERE user_hash = ?
              AND ended_at IS NULL AND phase IN ('accepted', 'scheduled', 'revoking')
            """,
            [.blob(userHash)]
        )
        for id in open { try WakeWriter.makeDue(id, at: now, database) }
        if isShared, !open.isEmpty {
            try OperationTable(database: database).announce(identity, of: userHash)
        }
        return IdentityUpdate(
            snapshot: found.snapshot,
            credentials: found.credentials,
            openRequests: open
        )
    }
}
