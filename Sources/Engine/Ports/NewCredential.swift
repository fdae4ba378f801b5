package import Lifecycle

/// A credential that was sealed and is to be stored.
package struct NewCredential: Sendable {
    package let userHash: [UInt8]
    package let userKey: WrappedKey
    /// Whether ``userKey`` was read from the state: then it must still be there, or a key that was
    /// destroyed in the meantime would come back.
    package var isUserKeyStored = false
    /// The user id itself, sealed: what a provider tells later names only its own subject.
    package let userID: SealedUserID
    package let provider: ProviderName
    package let clientID: String
    package var subject: LearnedSubject?
    package let kind: CredentialKind
    package let rowNonce: [UInt8]
    package let sealedSecret: [UInt8]
    package var sealedCodeVerifier: [UInt8]?
    package var redirectURI: String?
    package let fingerprint: [UInt8]
    package let createdAt: WallTime
    package var expiresAt: WallTime?
    package var spoolRow: SpoolRow?
    /// Why it is not stored; the identity remembers that there is such a credential.
    package var refusal: CredentialRejectReason?
    /// The sign-in that it came with; used in the commit that stores it, or not at all.
    package var signIn: ProvenSignIn?
    /// The user is asked for it, and brings no account that is not known yet.
    package var isReauthorization = false

    package init(
        userHash: [UInt8],
        userKey: WrappedKey,
        userID: SealedUserID,
        provider: ProviderName,
        clientID: String,
        kind: CredentialKind,
        rowNonce: [UInt8],
        sealedSecret: [UInt8],
        fingerprint: [UInt8],
        createdAt: WallTime
    ) {
        (self.userHash, self.userKey, self.userID) = (userHash, userKey, userID)
        (self.provider, self.clientID, self.kind) = (provider, clientID, kind)
        (self.rowNonce, self.sealedSecret) = (rowNonce, sealedSecret)
        (self.fingerprint, self.createdAt) = (fingerprint, createdAt)
    }
}

/// A user id sealed under the user's data key, and gone with it.
package struct SealedUserID: Hashable, Sendable {
    package let rowNonce: [UInt8]
    package let sealed: [UInt8]

    package init(rowNonce: [UInt8], sealed: [UInt8]) {
        (self.rowNonce, self.sealed) = (rowNonce, sealed)
    }

    /// What it is bound to; it belongs to no provider.
    package static func context(rowNonce: [UInt8], userHash: [UInt8]) -> SealContext {
        SealContext(
            field: SealField.userID.rawValue,
            rowNonce: rowNonce,
            provider: ProviderName(""),
            userHash: userHash
        )
    }
}

/// A stored credential and what it made known.
package struct StoredCredential: Hashable, Sendable {
    package let identity: IdentityID
    package let credential: CredentialID
    package let isDuplicate: Bool
    /// The subject was unknown before and is pinned by this credential.
    package let isSubjectFirstSeen: Bool
    package let exchange: LoadedExchange?
    package let update: IdentityUpdate
    /// Identities of other users that share the subject and have an open request.
    package let sharedUpdate: [IdentityUpdate]

    package init(
        identity: IdentityID,
        credential: CredentialID,
        isDuplicate: Bool,
        isSubjectFirstSeen: Bool,
        exchange: LoadedExchange?,
        update: IdentityUpdate,
        sharedUpdate: [IdentityUpdate]
    ) {
        (self.identity, self.credential, self.isDuplicate) = (identity, credential, isDuplicate)
        (self.isSubjectFirstSeen, self.exchange) = (isSubjectFirstSeen, exchange)
        (self.update, self.sharedUpdate) = (update, sharedUpdate)
    }
}

/// What became of a credential; durable when the caller sees it.
package enum CredentialOutcome: Hashable, Sendable {
    case stored(StoredCredential)
    case rejected(CredentialRejectReason)
    /// Rejected too, and the identity remembers that the provider may honor it.
    case refused(CredentialRejectReason, IdentityUpdate)
    /// The user has another data key by now: seal again under this one.
    case otherKey(WrappedKey)
    /// The user's data key was destroyed in the meantime: seal again under a new one.
    case keyGone
    /// This row of the spool was stored before; only scrub it.
    case importedBefore
    case signInUsed
}
