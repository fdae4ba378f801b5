/// One identity of a user that a directory told.
package struct LinkedIdentity: Hashable, Sendable {
    package let identity: IdentityID
    /// The configured provider, or the directory's own word where none is configured.
    package let provider: ProviderName
    /// A password, a phone number, an anonymous account: there never was a token.
    package let isLocal: Bool
    /// Keyed hash of the provider's name for the user, where the directory tells it.
    package let subjectHash: [UInt8]?

    package init(
        identity: IdentityID,
        provider: ProviderName,
        isLocal: Bool,
        subjectHash: [UInt8]?
    ) {
        (self.identity, self.provider) = (identity, provider)
        (self.isLocal, self.subjectHash) = (isLocal, subjectHash)
    }
}

/// What asking a directory for a user's identities brought.
package enum LookupAnswer: Hashable, Sendable {
    /// Empty for a user whom the directory does not know.
    case found([LinkedIdentity])
    case failure(EffectFailure)

    package var failure: EffectFailure? {
        if case .failure(let known) = self { known } else { nil }
    }
}
