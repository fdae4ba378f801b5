/// Asking a directory which identities the user has, before every revocation.
///
/// Once the account at the directory is gone, nothing shows any more where it was linked.
package struct LookupWork: Hashable, Sendable, RequestWork {
    package let directory: ProviderName
    package var isDone = false
    package var attempts = 0
    package var retry = Retry()
    /// A call is under way in this process; not stored.
    package var isBusy = false

    package init(directory: ProviderName) { self.directory = directory }
}

extension LookupWork {
    mutating func begin() {
        isBusy = true
        attempts += 1
        retryAt = nil
    }

    mutating func end() {
        isDone = true
        isBusy = false
        retry = Retry()
    }

    mutating func record(_ failure: EffectFailure, _ context: inout StepContext) -> [RequestEffect]
    {
        isBusy = false
        lastFailure = failure.code
        guard failure != .misconfigured else {
            attempts -= 1
            return [.pauseProvider(directory)]
        }
        retry.fail(after: failure, &context)
        return []
    }

    mutating func takeBackCall() {
        isBusy = false
        attempts -= 1
    }

    mutating func forgetFindings() {}
}

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
