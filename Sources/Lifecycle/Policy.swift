/// What a provider family allows; a property of the vendor, not of the operator.
package struct ProviderTraits: Hashable, Sendable {
    package let canCheckRefreshToken: Bool
    /// Whether an access token may be asked about (RFC 7662); a refresh grant cannot.
    package let canCheckAccessToken: Bool
    /// Whether the provider lists what a user granted.
    package let canCheckSubject: Bool
    /// The least time between two refreshes of one token; Apple: once a day ("Verifying a user").
    package let refreshInterval: Duration
    package let livenessLifetime: Duration
    package let revokesWholeGrant: Bool
    /// Whether a success means that the token was live; RFC 7009 §2.2 servers always answer it.
    package let refusesUnknownTokens: Bool
    package let hasNoRevocationAPI: Bool
    /// What is enough to revoke with, besides tokens: an id token, or the subject.
    package let extraKinds: Set<CredentialKind>
    /// Whether a refresh uses the old refresh token up; a lost answer leaves it in doubt.
    package let rotatesRefreshTokens: Bool
    /// Whether a check of a refresh token refreshes it, as introspection (RFC 7662) does not.
    package let checksByRefresh: Bool
    /// Whether a call that revokes a refresh token may refresh it, too.
    package let refreshesToRevoke: Bool
    /// Whether a refresh token that is refused for the last time is refreshed once before it is
    /// given up.
    package let asksRefusedTokens: Bool
    package let tokenClock: TokenClock?
    /// Where a user can cut the link by hand; shown on receipts.
    package let userActionURL: String
    package let userActionText: String
    /// Whether the operator wrote ``userActionText``, in a language of their own.
    package let isUserActionConfigured: Bool

    package init(
        canCheckRefreshToken: Bool,
        canCheckAccessToken: Bool = false,
        canCheckSubject: Bool = false,
        refreshInterval: Duration,
        livenessLifetime: Duration,
        revokesWholeGrant: Bool,
        refusesUnknownTokens: Bool = false,
        hasNoRevocationAPI: Bool = false,
        extraKinds: Set<CredentialKind> = [],
        rotatesRefreshTokens: Bool = false,
        checksByRefresh: Bool = true,
        refreshesToRevoke: Bool = false,
        asksRefusedTokens: Bool = false,
        tokenClock: TokenClock? = nil,
        userActionURL: String,
        userActionText: String,
        isUserActionConfigured: Bool = false
    ) {
        (self.canCheckRefreshToken, self.canCheckSubject) = (canCheckRefreshToken, canCheckSubject)
        (self.canCheckAccessToken, self.refreshInterval) = (canCheckAccessToken, refreshInterval)
        (self.livenessLifetime, self.revokesWholeGrant) = (livenessLifetime, revokesWholeGrant)
        self.refusesUnknownTokens = refusesUnknownTokens
        (self.hasNoRevocationAPI, self.extraKinds) = (hasNoRevocationAPI, extraKinds)
        (self.rotatesRefreshTokens, self.tokenClock) = (rotatesRefreshTokens, tokenClock)
        self.checksByRefresh = checksByRefresh
        (self.refreshesToRevoke, self.asksRefusedTokens) = (refreshesToRevoke, asksRefusedTokens)
        (self.userActionURL, self.userActionText) = (userActionURL, userActionText)
        self.isUserActionConfigured = isUserActionConfigured
    }
}

/// What to do when no usable credential is left; `on_unrevocable`.
package enum OnUnrevocable: String, Sendable, CaseIterable {
    /// Wait for a fresh sign-in, for as long as it takes.
    case park
    /// Wait until the revocation deadline, then go on as `unrevoked`.
    case proceed
}

/// What to do with a `delete_account` whose user has no known identity; `without_identities`.
package enum WithoutIdentities: String, Sendable, CaseIterable {
    case proceed
    case park
}

/// What to do when no key leads into a store that has `keyed_by`; `without_keys`.
package enum WithoutKeys: String, Sendable, CaseIterable {
    case proceed
    case park
}

/// Whether somebody must approve a deletion before anything happens; `approval`.
package enum ApprovalPolicy: String, Sendable, CaseIterable {
    case none
    case required
}

/// What the operator configured for one provider, as far as the state machine cares.
package struct ProviderPolicy: Hashable, Sendable {
    package let traits: ProviderTraits
    package let onUnrevocable: OnUnrevocable
    package let revocationDeadline: Duration
    /// What is done against tokens that die unused; `nil` where none does.
    package let keepAlive: KeepAlivePolicy?

    package init(
        traits: ProviderTraits,
        onUnrevocable: OnUnrevocable,
        revocationDeadline: Duration,
        keepAlive: KeepAlivePolicy? = nil
    ) {
        (self.keepAlive, self.traits) = (keepAlive, traits)
        (self.onUnrevocable, self.revocationDeadline) = (onUnrevocable, revocationDeadline)
    }
}
