package import Lifecycle

/// A stored token whose time to be refreshed has come.
package struct DueRenewal: Hashable, Sendable {
    package let credential: CredentialID
    package let identity: IdentityID
    package let provider: ProviderName
    package let failures: Int

    package init(
        credential: CredentialID,
        identity: IdentityID,
        provider: ProviderName,
        failures: Int
    ) {
        (self.credential, self.identity) = (credential, identity)
        (self.provider, self.failures) = (provider, failures)
    }
}

/// One look at the tokens that are to be refreshed.
package struct DueRenewals: Sendable {
    package let renewals: [DueRenewal]
    /// When the next one becomes due that was not due yet; `nil` when there is none.
    package let nextDueAt: WallTime?

    package init(renewals: [DueRenewal], nextDueAt: WallTime?) {
        (self.renewals, self.nextDueAt) = (renewals, nextDueAt)
    }
}

/// How the refresh of a stored token ended.
package struct EndedRenewal: Hashable, Sendable {
    /// What is known now.
    package enum Outcome: Hashable, Sendable {
        case kept(dueAt: WallTime, warnAt: WallTime)
        case refused
        /// Nothing is known; whether the token may have been used up.
        case failed(retryAt: WallTime, isInDoubt: Bool)
        case unreadable
    }

    package let credential: CredentialID
    package let begunAt: WallTime
    package let outcome: Outcome
}

/// How a refresh that keeps a token alive ended, for those who count.
package enum RenewalResult: String, Sendable, CaseIterable {
    case kept, refused, failed
}
