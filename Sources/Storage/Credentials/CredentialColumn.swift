/// The columns of `users` that an insert sets.
enum UserColumn: Int32, Columns {
    case userHash, wrappedKey, keyID, idNonce, sealedID

    static let insertion = insertion(of: allCases, into: "users")
}

/// The columns of `identities` that an insert sets.
enum IdentityColumn: Int32, Columns {
    case id, owner, provider, clientID, subjectHash, subjectNonce, sealedSubject
    case createdAt, updatedAt

    /// The second value is the keyed hash of the owner.
    static let insertion = """
        INSERT INTO identities (\(names()))
        VALUES (?1, (SELECT id FROM users WHERE user_hash = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?8)
        """
}

/// The columns of `credentials` that an insert sets.
enum CredentialColumn: Int32, Columns {
    case identityID, kind, rowNonce, sealedSecret, sealedCodeVerifier, redirectURI, fingerprint
    case createdAt, lastLiveAt, expiresAt, isFromCode, isReauthorization, codePhase
    case isSubjectKnown

    static let insertion = insertion(of: allCases, into: "credentials")
}
