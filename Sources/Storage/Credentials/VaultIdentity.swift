import Engine
import GRDB
import Lifecycle

/// One identity of a user with its sealed credentials, as the vault's tables have it now.
struct VaultIdentity {
    let snapshot: IdentitySnapshot
    let credentials: [CredentialID: SealedCredential]

    /// An identity is only ever made with its first credential; without one now it has lost them
    /// to an earlier request, which may have ended without cutting the link.
    static let hadCredentials = true

    private static let query = """
        SELECT i.id, i.provider, i.client_id, i.subject_hash, u.wrapped_key, u.key_id,
          c.id, c.kind, c.row_nonce, c.sealed_secret, c.sealed_code_verifier, c.redirect_uri,
          c.fingerprint, c.last_live_at, c.last_refresh_at, c.code_phase, i.subject_nonce,
          i.sealed_subject, i.link_cut_at, c.created_at,
          ifnull(c.refresh_begun_at > ifnull(c.last_live_at, 0), 0), i.refused_credentials
        FROM users u JOIN identities i ON i.owner = u.id
          LEFT JOIN credentials c ON c.identity_id = i.id
        """

    /// All identities of a user, the oldest first.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func all(of userHash: [UInt8], _ database: Database) throws -> [VaultIdentity] {
        let rows = try database.all(query + " WHERE u.user_hash = ?", .blob(userHash)) {
            try Row($0, userHash: userHash)
        }
        return try assemble(rows, userHash: userHash, database)
    }

    /// One identity; `nil` when it is unknown.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func find(
        _ id: IdentityID,
        of userHash: [UInt8],
        _ database: Database
    ) throws -> VaultIdentity? {
        let rows = try database.all(
            query + " WHERE u.user_hash = ? AND i.id = ?",
            .blob(userHash),
            .id(id.value)
        ) { try Row($0, userHash: userHash) }
        return try assemble(rows, userHash: userHash, database).first
    }

    static func credentials(of identities: [VaultIdentity]) -> [CredentialID: SealedCredential] {
        var all: [CredentialID: SealedCredential] = [:]
        for identity in identities { all.merge(identity.credentials) { $1 } }
        return all
    }

    private static func assemble(
        _ rows: [Row],
        userHash: [UInt8],
        _ database: Database
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
            return VaultIdentity(snapshot: snapshot, credentials: Dictionary(sealed) { $1 })
        }
    }

    /// A code that was lost after every token was last seen live may have opened another grant.
    private static func works(_ rows: [Row]) -> [CredentialWork] {
        let liveAt = rows.compactMap(\.work?.lastLiveAt).max() ?? .distantPast
        return rows.compactMap { row in
            guard var work = row.work else { return nil }
            if work.step == .lost, let madeAt = row.freshAt, madeAt > liveAt {
                work.isInDoubt = true
            }
            return work
        }.sorted { $0.id < $1.id }
    }

    /// Whether the provider told that the link is cut, and no credential is newer than that.
    ///
    /// A refused credential may be newer, and so may the token of a code whose exchange was lost.
    private static func isCut(_ rows: [Row]) -> Bool {
        guard let cutAt = rows[0].linkCutAt, rows[0].refusedCount == 0 else { return false }
        return rows.allSatisfy { row in row.freshAt.map { $0 <= cutAt } ?? true }
    }

    /// Whether another user has the same subject at the provider.
    private static func isShared(
        _ provider: ProviderName,
        subjectHash: [UInt8],
        userHash: [UInt8],
        _ database: Database
    ) throws -> Bool {
        try database.first(
            """
            SELECT 1 FROM identities i JOIN users u ON u.id = i.owner
            WHERE i.provider = ? AND i.subject_hash = ? AND u.user_hash <> ? LIMIT 1
            """,
            .text(provider.rawValue),
            .blob(subjectHash),
            .blob(userHash)
        ) { _ in true } ?? false
    }
}

extension VaultIdentity {
    /// One row of the query: an identity with one of its credentials, if it has any.
    private struct Row {
        let identity: IdentityID
        let provider: ProviderName
        let clientID: String
        let subjectHash: [UInt8]?
        let work: CredentialWork?
        /// `nil` also for a code that is spent: its secret is destroyed.
        let sealed: SealedCredential?
        let linkCutAt: WallTime?
        let refusedCount: Int
        /// When the credential was stored or last seen alive; `nil` for one that brought nothing.
        let freshAt: WallTime?

        init(_ row: SQLRow, userHash: [UInt8]) throws {
            identity = try row.identityID(0)
            provider = ProviderName(row.text(1))
            clientID = row.text(2)
            subjectHash = row.blobOrNil(3)
            linkCutAt = row.timeOrNil(18)
            refusedCount = row.int(21)
            let isLost = row.textOrNil(15) == CodeExchange.Phase.unknown.rawValue
            freshAt =
                row.isNull(9) && !isLost
                ? nil : max(row.time(19), row.timeOrNil(13) ?? .distantPast)
            guard !row.isNull(6) else {
                work = nil
                sealed = nil
                return
            }
            let id = CredentialID(rowID: Int64(row.int(6)))
            let kind = try row.choice(7, as: CredentialKind.self)
            let code = try row.choiceOrNil(15, as: CodeExchange.Phase.self)
            work = CredentialWork(
                id: id,
                kind: kind,
                step: Self.step(kind, code),
                isInDoubt: row.bool(20),
                // A token that was live before the cut says nothing about what came after it.
                lastLiveAt: row.timeOrNil(13).flatMap { [linkCutAt] liveAt in
                    liveAt <= linkCutAt ?? .distantPast ? nil : liveAt
                },
                lastRefreshAt: row.timeOrNil(14)
            )
            guard let secret = row.blobOrNil(9) else {
                sealed = nil
                return
            }
            var sealed = SealedCredential(
                id: id,
                kind: kind,
                provider: provider,
                clientID: clientID,
                userHash: userHash,
                rowNonce: row.blob(8),
                sealedSecret: secret,
                sealedCodeVerifier: row.blobOrNil(10),
                redirectURI: row.textOrNil(11),
                fingerprint: row.blob(12),
                userKey: WrappedKey(bytes: row.blob(4), keyID: row.text(5))
            )
            if let subjectHash, let nonce = row.blobOrNil(16), let subject = row.blobOrNil(17) {
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
            case .idToken: .unusable
            }
        }
    }
}

extension IdentityUpdate {
    /// Reads what is known now and makes the user's open requests due, so that none of them misses
    /// it.
    ///
    /// - Returns: `nil` when the identity is gone.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func tell(
        _ identity: IdentityID,
        of userHash: [UInt8],
        at now: WallTime,
        _ database: Database
    ) throws -> IdentityUpdate? {
        guard let found = try VaultIdentity.find(identity, of: userHash, database) else {
            return nil
        }
        let open = try database.all(
            """
            SELECT id FROM requests INDEXED BY requests_user WHERE user_hash = ? AND ended_at IS
            NULL
              AND phase IN ('accepted', 'scheduled', 'revoking')
            """,
            .blob(userHash)
        ) { try $0.requestID(0) }
        for id in open {
            try database.run(
                "UPDATE requests SET due_at = min(ifnull(due_at, ?1), ?1) WHERE id = ?2",
                .time(now),
                .id(id.value)
            )
        }
        return IdentityUpdate(
            snapshot: found.snapshot,
            credentials: found.credentials,
            openRequests: open
        )
    }
}
