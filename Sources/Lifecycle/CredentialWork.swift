/// Where the revocation of one credential stands within one request.
package enum CredentialStep: String, Sendable, CaseIterable {
    /// An authorization code that the five-minute lane still works on.
    case codePending = "code_pending"
    /// Stored and untouched by this request.
    case stored
    /// The intent to revoke is durable; the call may or may not have been made.
    case revoking
    /// Revoke answered success; proof is not tried yet.
    case revoked
    case proven
    case accepted
    /// Revoke answered success, but nothing ever showed that the token was real.
    case unconfirmed
    /// The provider's own error proved the grant gone.
    case gone
    /// The provider refuses the token for good.
    case dead
    /// Not usable for revocation: a spent code, an id token, a token behind a broken seal.
    case unusable
    /// The provider refused several times to revoke it, and it alone: it may live on.
    case refused
    /// A code whose exchange brought no answer: the provider may have issued tokens that the
    /// service never received.
    case lost

    /// Whether nothing more is done with the credential.
    package var isFinal: Bool {
        switch self {
        case .codePending, .stored, .revoking, .revoked: false
        case .proven, .accepted, .unconfirmed, .gone, .dead, .unusable, .refused, .lost: true
        }
    }
}

/// What the last check of a token brought.
package enum LastCheck: Sendable {
    case live
    /// The provider could not say.
    case unknown
}

/// One credential of an identity, as seen by one request.
package struct CredentialWork: Hashable, Sendable {
    package let id: CredentialID
    package let kind: CredentialKind
    package var step: CredentialStep
    /// Whether a revoke intent was ever made durable; whatever it came to, it stays.
    package var hasRevokeIntent: Bool
    /// Whether the provider honoured the token shortly before the revoke intent.
    package var wasLive: Bool
    /// A revoke answered success once while the token stayed live: only proof counts from then on.
    package var needsProof: Bool
    /// A call that may rotate the token is under way; durable before the call is made.
    package var isRefreshing: Bool
    /// A call that may have rotated the token brought no answer: a refusal of the stored token
    /// says nothing about the grant any more.
    package var isInDoubt: Bool
    /// A token came after the revocation of this one, or after its end: that may be of another
    /// grant, of which this one says nothing.
    package var isOfEarlierGrant: Bool
    /// What this request heard of it with nothing in between, where tokens rotate.
    ///
    /// Not stored: any other call may rotate the token away.
    package var lastCheck: LastCheck?
    /// Last successful token answer, the exchange included.
    package var lastLiveAt: WallTime?
    /// Last refresh grant that the provider answered, or may have; spends its budget.
    package var lastRefreshAt: WallTime?
    /// Refusals of calls about this token alone: of checks until there is a revoke intent, then of
    /// tries to revoke, and after a success of confirmations that it needs.
    package var refusals: RefusalCount?

    package init(
        id: CredentialID,
        kind: CredentialKind,
        step: CredentialStep,
        hasRevokeIntent: Bool = false,
        wasLive: Bool = false,
        needsProof: Bool = false,
        isRefreshing: Bool = false,
        isInDoubt: Bool = false,
        isOfEarlierGrant: Bool = false,
        lastLiveAt: WallTime? = nil,
        lastRefreshAt: WallTime? = nil,
        refusals: RefusalCount? = nil
    ) {
        self.id = id
        self.kind = kind
        self.step = step
        self.hasRevokeIntent = hasRevokeIntent
        self.wasLive = wasLive
        self.needsProof = needsProof
        self.isRefreshing = isRefreshing
        self.isInDoubt = isInDoubt
        self.isOfEarlierGrant = isOfEarlierGrant
        self.lastLiveAt = lastLiveAt
        self.lastRefreshAt = lastRefreshAt
        self.refusals = refusals
    }

    /// Whether it is a token that could not be read, or that the provider refused to revoke, and so
    /// may live on.
    var mayLiveOn: Bool {
        switch kind {
        case .refreshToken, .accessToken: step == .unusable || step == .refused
        case .authorizationCode, .idToken: false
        }
    }

    /// Whether the provider gave it out, honored it or vouched for it before anyone's eyes.
    package var wasSeenLive: Bool { wasLive || lastLiveAt != nil || kind == .idToken }

    /// When its turn comes among the tokens of its identity.
    var rank: Int { (isOfEarlierGrant ? 2 : 0) + (kind == .refreshToken ? 0 : 1) }

    /// Whether it counts for itself, nobody has seen it live, and the provider may be asked now.
    ///
    /// What rotates is asked about right before its own revocation.
    func isToBeSeen(at now: WallTime, traits: ProviderTraits) -> Bool {
        guard step == .stored, !traits.revokesWholeGrant, !wasSeenLive, !mayRotate(traits),
            refusals == nil,
            let askableAt = askableAt(traits: traits)
        else { return false }
        return askableAt <= now
    }

    /// Whether anything showed that the provider ever honored this token.
    ///
    /// Without that a successful revocation means nothing: RFC 7009 §2.2 has the server answer 200
    /// for a token that it never knew.
    func wasEverSeen(_ traits: ProviderTraits) -> Bool {
        wasSeenLive || traits.refusesUnknownTokens
    }

    /// Whether a successful token answer is recent enough to count as "live".
    ///
    /// A token that rotates may have been another one then.
    func isKnownLive(at now: WallTime, traits: ProviderTraits) -> Bool {
        guard !mayRotate(traits) else { return lastCheck == .live }
        // A clock that went back must not make a provider without a memory of liveness have one.
        guard let lastLiveAt, traits.livenessLifetime > .zero else { return false }
        return now.since(lastLiveAt) < traits.livenessLifetime
    }

    /// Whether a refresh uses it up.
    func mayRotate(_ traits: ProviderTraits) -> Bool {
        traits.rotatesRefreshTokens && kind == .refreshToken
    }

    /// Notes the intent to revoke; checks that were refused before the first one count no more.
    mutating func beginRevoking() {
        if !hasRevokeIntent { refusals = nil }
        step = .revoking
        hasRevokeIntent = true
    }

    /// Notes that a call which may rotate the token is about to be made.
    mutating func beginRefresh(traits: ProviderTraits) {
        guard mayRotate(traits) else { return }
        lastCheck = nil
        // The process ended before the answer of the last one.
        if isRefreshing { isInDoubt = true }
        isRefreshing = true
    }

    /// Notes what became of that call.
    ///
    /// - Parameter failure: `nil` for an answer that says where the token stands.
    mutating func endRefresh(_ failure: EffectFailure?) {
        defer { isRefreshing = false }
        switch failure {
        case nil: isInDoubt = false
        case .lost?, .unusable?: isInDoubt = isInDoubt || isRefreshing
        // A refusal leaves the token as it was.
        case .rejected?, .refused?, .wrongEndpoint?, .misconfigured?, .sealBroken?, .vaultSealed?,
            .throttled?, .unreachable?,
            .keys?, .blocked?:
            break
        }
    }

    /// When the provider may be asked about this token; `nil` when it never may.
    func askableAt(traits: ProviderTraits) -> WallTime? {
        switch kind {
        case .refreshToken where traits.canCheckRefreshToken: break
        case .accessToken where traits.canCheckAccessToken: break
        case .refreshToken, .accessToken, .authorizationCode, .idToken: return nil
        }
        guard let lastRefreshAt else { return .distantPast }
        return lastRefreshAt + traits.refreshInterval
    }
}
