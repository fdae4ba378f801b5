/// Where the revocation of one credential stands within one request.
package enum CredentialStep: String, Sendable, CaseIterable {
    /// An authorization code that the five-minute lane still works on.
    case codePending = "code_pending"
    case stored
    /// The intent to revoke is durable; the call may or may not have been made.
    case revoking
    case revoked
    case proven
    case accepted
    /// Revoke answered success, but nothing showed that the token was real, or still the last of
    /// its rotation.
    case unconfirmed
    /// The provider's own error proved the grant gone.
    case gone
    case dead
    /// Not usable for revocation: a spent code, an id token, a token behind a broken seal.
    case unusable
    /// The provider refused several times to revoke it, and it alone: it may live on.
    case refused
    /// A code whose exchange brought no tokens: the provider may have issued tokens that the
    /// service never received.
    case lost

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
    case unknown
}

/// What came of the intents of one request to revoke a token; each is durable before its call.
package enum RevokeIntent: Hashable, Sendable {
    case none
    /// With whether the provider honored the token shortly before.
    case durable(wasLive: Bool)
    /// A revoke answered success while the token stayed live: only proof counts from then on.
    case contradicted(wasLive: Bool)

    var wasLive: Bool {
        switch self {
        case .none: false
        case .durable(let wasLive), .contradicted(let wasLive): wasLive
        }
    }
}

/// Whether a call may have rotated the stored token away.
package enum TokenRotation: Hashable, Sendable {
    case settled
    /// Such a call is under way; durable before it is made.
    case underWay(isInDoubt: Bool)
    /// Such a call brought no answer: a refusal of the stored token says nothing about the grant.
    ///
    /// Of a lost code: it may have opened a grant after the provider's last word about one.
    case inDoubt

    package var isInDoubt: Bool {
        switch self {
        case .settled: false
        case .underWay(let isInDoubt): isInDoubt
        case .inDoubt: true
        }
    }

    var isUnderWay: Bool { if case .underWay = self { true } else { false } }

    /// Without an answer to the call before, the process ended.
    mutating func begin() { self = .underWay(isInDoubt: self != .settled) }

    /// Ends the call, which left the token as it was.
    mutating func end() { self = isInDoubt ? .inDoubt : .settled }
}

/// One credential of an identity, as seen by one request.
package struct CredentialWork: Hashable, Sendable {
    package let id: CredentialID
    package let kind: CredentialKind
    package var step: CredentialStep
    package var intent: RevokeIntent
    package var rotation: TokenRotation
    /// A token came after the revocation or the end of this one: perhaps of another grant.
    package var isOfEarlierGrant: Bool
    /// No subject was named for it: it may be of any account of the user at the client.
    package var isUnnamed: Bool
    /// What this request heard of a token that rotates, with nothing in between; not stored.
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
        intent: RevokeIntent = .none,
        rotation: TokenRotation = .settled,
        isOfEarlierGrant: Bool = false,
        isUnnamed: Bool = false,
        lastLiveAt: WallTime? = nil,
        lastRefreshAt: WallTime? = nil,
        refusals: RefusalCount? = nil
    ) {
        (self.id, self.kind, self.step) = (id, kind, step)
        (self.intent, self.rotation, self.isOfEarlierGrant) = (intent, rotation, isOfEarlierGrant)
        self.isUnnamed = isUnnamed
        (self.lastLiveAt, self.lastRefreshAt, self.refusals) = (lastLiveAt, lastRefreshAt, refusals)
    }

    package var hasRevokeIntent: Bool { intent != .none }

    var isBegun: Bool { hasRevokeIntent || step.isFinal }

    /// Whether what is known of it may count for its account.
    var isEvidence: Bool { kind != .authorizationCode && (isBegun || wasSeenLive) }

    package var needsProof: Bool { if case .contradicted = intent { true } else { false } }

    /// Whether it could not be read, or the provider refused to revoke it.
    var mayLiveOn: Bool {
        switch kind {
        case .refreshToken, .accessToken: step == .unusable || step == .refused
        case .subject: step == .refused
        case .authorizationCode, .idToken: false
        }
    }

    /// Whether its end is still to come, or could not be reached.
    var isOpen: Bool { !step.isFinal || mayLiveOn }

    /// Whether it was refused as often as it takes to give it up.
    var isGivenUp: Bool { (refusals?.count ?? 0) >= Limits.refusalsMax }

    /// Whether the provider, which can be asked, said lately that it lives: then it does, whatever
    /// a refusal says.
    func livesOn(at now: WallTime, traits: ProviderTraits) -> Bool {
        guard intent.wasLive, askableAt(traits: traits) != nil, let lastLiveAt else { return false }
        return now.since(lastLiveAt) < max(traits.livenessLifetime, Limits.refusalSpacing)
    }

    /// Whether the provider honored it, or gave it out or vouched for it in a call of its own.
    package var wasSeenLive: Bool { intent.wasLive || lastLiveAt != nil || kind == .idToken }

    var rank: Int {
        (isOfEarlierGrant ? 3 : 0) + (kind == .subject ? 0 : kind == .refreshToken ? 1 : 2)
    }

    /// Whether it counts for itself, was never seen live, and the provider may be asked now.
    ///
    /// What rotates is asked about right before its own revocation.
    func isToBeSeen(at now: WallTime, traits: ProviderTraits) -> Bool {
        guard step == .stored, !traits.revokesWholeGrant, !wasSeenLive, !mayRotate(traits),
            refusals == nil,
            let askableAt = askableAt(traits: traits)
        else { return false }
        return askableAt <= now
    }

    /// Whether a successful revocation means anything: RFC 7009 §2.2 has the server answer 200 for
    /// a token that it never knew.
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

    func mayRotate(_ traits: ProviderTraits) -> Bool {
        traits.rotatesRefreshTokens && kind == .refreshToken
    }

    /// Notes what a check brought, where the token may be another one later.
    mutating func hear(_ check: LastCheck, _ traits: ProviderTraits?) {
        if let traits, mayRotate(traits) { lastCheck = check }
    }

    /// Notes the intent to revoke; checks that were refused before the first one count no more.
    mutating func beginRevoking(wasLive: Bool? = nil) {
        if intent == .none { refusals = nil }
        step = .revoking
        let wasLive = wasLive ?? intent.wasLive
        intent = needsProof ? .contradicted(wasLive: wasLive) : .durable(wasLive: wasLive)
    }

    /// Notes that the token is live after a revoke that answered success.
    mutating func contradict() {
        step = .stored
        intent = .contradicted(wasLive: intent.wasLive)
    }

    /// Notes that a call is about to be made, which may rotate the token.
    mutating func begin(_ work: TokenCall.Work, traits: ProviderTraits) {
        guard mayRotate(traits) else { return }
        // What introspection does not know, it is not asked again.
        if traits.checksByRefresh || lastCheck == .live { lastCheck = nil }
        if work == .revoke ? traits.refreshesToRevoke : traits.checksByRefresh {
            rotation.begin()
        } else if rotation.isUnderWay {
            rotation = .inDoubt
        }
    }

    /// Takes a success of its revocation.
    ///
    /// What was rotated away unheard lives on, unless success is for live tokens alone: then
    /// nothing was.
    mutating func noteRevoked(_ traits: ProviderTraits?) {
        refusals = nil
        if traits?.refusesUnknownTokens ?? false { endRefresh(nil) } else { rotation.end() }
        step = rotation.isInDoubt ? .unconfirmed : .revoked
    }

    /// Takes over what the vault knows about it.
    mutating func learn(_ stored: CredentialWork) {
        lastLiveAt = [lastLiveAt, stored.lastLiveAt].compactMap(\.self).max()
        lastRefreshAt = [lastRefreshAt, stored.lastRefreshAt].compactMap(\.self).max()
        isUnnamed = isUnnamed && stored.isUnnamed
        // A refresh that keeps it alive was not heard of, and may have used the token up.
        guard stored.rotation.isInDoubt, !step.isFinal else { return }
        rotation = rotation.isUnderWay ? .underWay(isInDoubt: true) : .inDoubt
    }

    /// Notes what became of that call; `nil` is an answer that says where the token stands.
    mutating func endRefresh(_ failure: EffectFailure?) {
        switch failure {
        case nil: rotation = .settled
        case .lost?, .unusable?: rotation = rotation.isUnderWay ? .inDoubt : rotation
        // A refusal leaves the token as it was.
        case .rejected?, .refused?, .refusesAll?, .misconfigured?, .sealBroken?, .vaultSealed?,
            .throttled?, .unreachable?, .notConfigured?, .keys?, .blocked?:
            rotation.end()
        }
    }

    /// When the provider may be asked about this token; `nil` when it never may.
    func askableAt(traits: ProviderTraits) -> WallTime? {
        switch kind {
        case .refreshToken where traits.canCheckRefreshToken: break
        case .refreshToken where traits.asksRefusedTokens && isGivenUp: break
        case .accessToken where traits.canCheckAccessToken: break
        case .subject where traits.canCheckSubject: break
        case .refreshToken, .accessToken, .authorizationCode, .idToken, .subject: return nil
        }
        guard let lastRefreshAt else { return .distantPast }
        return lastRefreshAt + traits.refreshInterval
    }
}
