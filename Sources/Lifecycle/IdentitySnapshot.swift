/// What is known about one identity when a request is made or a credential arrives.
package struct IdentitySnapshot: Hashable, Sendable {
    package let identity: IdentityID
    package let provider: ProviderName
    package let clientID: String
    /// The same (provider, subject) is stored for another user too.
    package let isShared: Bool
    package let credentials: [CredentialWork]
    /// Whether any credential was ever stored, also one that is destroyed by now: then there may be
    /// a link at the provider.
    package let hadCredentials: Bool
    /// The provider told that the link is cut, and nothing stored is newer than that.
    package let isCut: Bool
    /// Credentials that the service refused to store; the provider may honor them.
    package var refusedCount = 0

    /// - Parameters:
    ///   - identity: Names it.
    ///   - provider: Where it is.
    ///   - clientID: What its credentials were issued to.
    ///   - isShared: The same subject is stored for another user too.
    ///   - credentials: What is stored now.
    ///   - hadCredentials: Only what is stored now counts unless told.
    ///   - isCut: The provider told that the link is cut, and nothing stored is newer.
    package init(
        identity: IdentityID,
        provider: ProviderName,
        clientID: String,
        isShared: Bool,
        credentials: [CredentialWork],
        hadCredentials: Bool = false,
        isCut: Bool = false
    ) {
        self.identity = identity
        self.provider = provider
        self.clientID = clientID
        self.isShared = isShared
        self.credentials = credentials
        self.hadCredentials = hadCredentials || !credentials.isEmpty
        self.isCut = isCut
    }
}
