import GRDB
package import Lifecycle

/// A sign-in that a provider's signature proves.
package struct ProvenSignIn: Hashable, Sendable {
    package let userHash: [UInt8]
    package let provider: ProviderName
    /// Keyed hash of the subject that the id token names.
    package let subjectHash: [UInt8]
    package let signedInAt: WallTime
    /// Names the id token.
    package let fingerprint: [UInt8]
    /// Until when the token would be accepted; it is forgotten a day later.
    package let expiresAt: WallTime

    package init(
        userHash: [UInt8],
        provider: ProviderName,
        subjectHash: [UInt8],
        signedInAt: WallTime,
        fingerprint: [UInt8],
        expiresAt: WallTime
    ) {
        self.userHash = userHash
        self.provider = provider
        self.subjectHash = subjectHash
        self.signedInAt = signedInAt
        self.fingerprint = fingerprint
        self.expiresAt = expiresAt
    }
}

/// What a proven sign-in is worth.
package enum SignInOutcome: Hashable, Sendable {
    /// Recorded as the user's own.
    case recorded
    case usedBefore
    /// No identity of the user at the provider has a subject to compare with.
    case subjectUnknown
    /// It is somebody else's.
    case otherSubject
}

extension StateDatabase {
    /// Records a sign-in as the user's, once, if its subject was known to be the user's before.
    ///
    /// A stranger with the user's session can sign in, too, with an account of their own: only a
    /// subject that is stored already tells the two apart.
    ///
    /// - Throws: ``StorageError``: nothing was recorded.
    package func record(_ signIn: ProvenSignIn) async throws -> SignInOutcome {
        let now = now()
        return try await writer.perform { database in
            let subjects = try database.all(
                """
                SELECT i.subject_hash FROM users u JOIN identities i ON i.owner = u.id
                WHERE u.user_hash = ? AND i.provider = ? AND i.subject_hash IS NOT NULL
                """,
                .blob(signIn.userHash),
                .text(signIn.provider.rawValue)
            ) { $0.blob(0) }
            guard !subjects.isEmpty else { return .subjectUnknown }
            guard subjects.contains(signIn.subjectHash) else { return .otherSubject }
            guard try Self.use(signIn.fingerprint, until: signIn.expiresAt, at: now, database)
            else {
                return .usedBefore
            }
            try database.run(
                """
                UPDATE users SET signed_in_at = max(ifnull(signed_in_at, 0), ?) WHERE user_hash = ?
                """,
                .time(min(signIn.signedInAt, now)),
                .blob(signIn.userHash)
            )
            return .recorded
        }
    }

    /// Notes that an id token was used.
    ///
    /// - Returns: `false` when it was used before.
    /// - Throws: `DatabaseError`.
    static func use(
        _ fingerprint: [UInt8],
        until expiresAt: WallTime,
        at now: WallTime,
        _ database: Database
    ) throws -> Bool {
        let yesterday = now - .seconds(86_400)
        try database.run("DELETE FROM sign_ins WHERE expires_at < ?", .time(yesterday))
        return try database.run(
            "INSERT OR IGNORE INTO sign_ins VALUES (?, ?)",
            .blob(fingerprint),
            .time(expiresAt)
        ) > 0
    }
}
