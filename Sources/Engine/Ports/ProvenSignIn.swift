package import Lifecycle

/// A sign-in that a provider's signature proves.
package struct ProvenSignIn: Hashable, Sendable {
    package let userHash: [UInt8]
    package let provider: ProviderName
    /// Keyed hash of the subject that the id token names.
    package let subjectHash: [UInt8]
    package let signedInAt: WallTime
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
        (self.userHash, self.provider, self.subjectHash) = (userHash, provider, subjectHash)
        (self.signedInAt, self.fingerprint, self.expiresAt) = (signedInAt, fingerprint, expiresAt)
    }
}

/// What a proven sign-in is worth.
package enum SignInOutcome: Hashable, Sendable {
    case recorded
    case usedBefore
    /// No identity of the user at the provider has a subject to compare with.
    case subjectUnknown
    case otherSubject
}
