/// What is known about one identity when a request is made or a credential arrives.
package struct IdentitySnapshot: Hashable, Sendable {
    package let identity: IdentityID
    package let provider: ProviderName
    package let clientID: String
    /// The same subject is stored for another user, too.
    package let isShared: Bool
    package internal(set) var credentials: [CredentialWork]
    /// Any credential was ever stored, also one that is destroyed: there may be a link.
    package let hadCredentials: Bool
    /// The provider reported the link as cut, and nothing stored is newer.
    package let isCut: Bool
    /// Credentials that the service refused to store; the provider may honor them.
    package var refusedCount = 0
    /// It came beside the user's first account at the provider, and proves nothing of the user.
    package var isOtherAccount = false
    /// An operator had another account at the client forgotten.
    package var hadOthers = false
    /// Keyed hash of the provider's name for the user; `nil` while unknown.
    package var subjectHash: [UInt8]?

    package init(
        identity: IdentityID,
        provider: ProviderName,
        clientID: String,
        isShared: Bool,
        credentials: [CredentialWork],
        hadCredentials: Bool = false,
        isCut: Bool = false
    ) {
        (self.identity, self.provider, self.clientID) = (identity, provider, clientID)
        (self.isShared, self.credentials) = (isShared, credentials)
        self.hadCredentials = hadCredentials || !credentials.isEmpty
        self.isCut = isCut
    }
}

/// An identity that an operator had forgotten: nothing can be revoked for it any more.
package struct ForgottenIdentity: Codable, Hashable, Sendable {
    package let provider: ProviderName
    package let at: WallTime
    /// The operator's.
    package let uid: UInt32

    package init(provider: ProviderName, at: WallTime, uid: UInt32) {
        (self.provider, self.at, self.uid) = (provider, at, uid)
    }
}
