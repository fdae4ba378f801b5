/// The revocation of one identity within one request.
package struct Revocation: Hashable, Sendable, RequestWork {
    package let identity: IdentityID
    package let provider: ProviderName
    package let clientID: String
    package var isShared: Bool
    package var credentials: [CredentialWork]
    package var hadCredentials: Bool
    /// Not stored with the request: the identity has it.
    package var isCut: Bool
    /// A directory named it, and the vault has nothing of it.
    package var isLinked = false
    /// ``IdentitySnapshot/isOtherAccount``; not stored with the request.
    package var isOtherAccount: Bool
    package var verdict: Verdict?
    /// What the verdict rests on, where that is more than the provider's word for one call.
    package var proof: Proof?
    package var refusedCount: Int
    package var attempts = 0
    package var retry = Retry()
    /// The last answer of the vendor that was no success; without its words after the end.
    package var answer: VendorAnswer?
    /// Since when no usable credential is left; starts the revocation deadline.
    package var waitingSince: WallTime?
    package var startedAt: WallTime?
    package var endedAt: WallTime?
    /// A call is under way in this process; not stored.
    package var isBusy = false
    /// The vault lacks the key of a credential; not stored, so a restart with the key tries again.
    package var isKeyMissing = false
    /// A code of another identity of the client may bring a token of this account; not stored.
    package var isBehindCode = false
    /// The user has, or had, several accounts at the client.
    package var isOneOfSeveral = false
    /// ``IdentitySnapshot/subjectHash``, or the directory's of a link, until the end.
    package var subjectHash: [UInt8]?

    package init(_ snapshot: IdentitySnapshot) {
        identity = snapshot.identity
        provider = snapshot.provider
        clientID = snapshot.clientID
        isShared = snapshot.isShared
        credentials = snapshot.credentials
        hadCredentials = snapshot.hadCredentials
        isCut = snapshot.isCut
        refusedCount = snapshot.refusedCount
        isOtherAccount = snapshot.isOtherAccount
        isOneOfSeveral = snapshot.hadOthers
        subjectHash = snapshot.subjectHash
    }
}

extension Revocation {
    init(_ link: LinkedIdentity) {
        self.init(
            IdentitySnapshot(
                identity: link.identity,
                provider: link.provider,
                clientID: "",
                isShared: false,
                credentials: [],
                hadCredentials: true
            )
        )
        isLinked = true
        subjectHash = link.subjectHash
    }
}

/// What one revocation needs next.
enum RevocationStep: Hashable, Sendable {
    case effect(RequestEffect)
    case busy
    /// The five-minute lane works on a code of this identity; its end is an event.
    case awaitingLane
    /// Ends with other identities of the same provider, which say what they wait for.
    case behind
    case waiting(until: WallTime)
    case parked(ParkReason, until: WallTime?)
    case final(Verdict)
}

extension Revocation {
    mutating func advance(
        kind: RequestKind,
        now: WallTime,
        in environment: Environment
    ) -> RevocationStep {
        if let verdict { return .final(verdict) }
        guard !isBusy else { return .busy }
        guard !isShared else { return .parked(.sharedIdentity, until: nil) }
        let known = environment.providers[provider]
        if let known { acceptWithoutProof(now: now, traits: known.traits) }
        if isCut, !credentials.contains(where: { isAmbiguous($0) && $0.isOpen }) {
            proof = .notification
            return finish(verdictOfCut, at: now)
        }
        guard let policy = known else {
            // Nothing is stored that such a provider could ever be asked about.
            if credentials.isEmpty, refusedCount > 0 { return finish(.unrevoked, at: now) }
            isProviderUnknown = true
            return .parked(.unknownProvider, until: nil)
        }
        isProviderUnknown = false
        if policy.traits.hasNoRevocationAPI { return finish(.manual, at: now) }
        if !hadCredentials { return finish(.nothingToRevoke, at: now) }
        takeUp(policy.traits.extraKinds)
        takeUpRefused(at: now)
        if let earned = earnedVerdict(policy.traits) { return finish(earned, at: now) }
        guard credentials.contains(where: { !$0.step.isFinal }) else {
            return advanceWithoutCredential(kind: kind, now: now, policy: policy)
        }
        // The deadline of what was given up runs on while it is tried once more.
        if credentials.contains(where: { !$0.step.isFinal && !$0.isGivenUp }) { waitingSince = nil }
        guard !isKeyMissing else { return .parked(.vaultSealed, until: nil) }
        guard !environment.pausedProviders.contains(provider) else {
            return .parked(.providerPaused, until: nil)
        }
        if let retryAt = retry.wait(at: now) { return .waiting(until: retryAt) }
        return advanceCredential(now: now, traits: policy.traits)
    }

    /// The subject goes first: it ends all tokens.
    ///
    /// Refresh tokens follow, since a dead one says more. Those of an earlier grant are last: their
    /// revocation could end a later grant before its own tokens are asked about.
    private mutating func advanceCredential(now: WallTime, traits: ProviderTraits) -> RevocationStep
    {
        let order = credentials.indices.filter { !credentials[$0].step.isFinal }.sorted {
            (credentials[$0].rank, $0) < (credentials[$1].rank, $1)
        }
        // The revocation of another token may end it, too; then nothing shows that it was real.
        if let unseen = order.first(where: { credentials[$0].isToBeSeen(at: now, traits: traits) })
        {
            return call(.check, unseen, now, traits)
        }
        var waitUntil: WallTime?
        for index in order {
            guard let step = advanceCredential(at: index, now: now, traits: traits) else {
                continue
            }
            // The proof of one token may take a day; the others do not wait for it.
            guard case .waiting(let until) = step else { return step }
            waitUntil = min(waitUntil ?? until, until)
        }
        if let waitUntil { return .waiting(until: waitUntil) }
        if let earned = earnedVerdict(traits) { return finish(earned, at: now) }
        return .awaitingLane
    }

    /// `nil` when this credential has nothing to do now.
    private mutating func advanceCredential(
        at index: Int,
        now: WallTime,
        traits: ProviderTraits
    ) -> RevocationStep? {
        let credential = credentials[index]
        switch credential.step {
        case .codePending:
            return nil
        case .stored:
            // What is known of before the lost code may be of an earlier grant. An ambiguous token
            // says nothing of the code, however often it is asked about.
            let isLive =
                credential.isKnownLive(at: now, traits: traits)
                && (isAmbiguous(credential) || !hasYoungerLostCode)
            if !isLive, let askableAt = credential.askableAt(traits: traits) {
                if askableAt <= now {
                    return call(.check, index, now, traits)
                }
                // A revoke answers success for a token that was rotated away, too.
                if credential.mayRotate(traits) { return .waiting(until: askableAt) }
            }
            guard !mayRevokeTooEarly(traits) else { return nil }
            credentials[index].beginRevoking(wasLive: isLive)
            return call(.revoke, index, now, traits)
        case .revoking:
            guard !mayRevokeTooEarly(traits) else { return nil }
            // Another call may have rotated the token since: it is asked about once more.
            if credential.lastCheck == nil, credential.mayRotate(traits),
                traits.canCheckRefreshToken
            {
                credentials[index].step = .stored
                return advanceCredential(at: index, now: now, traits: traits)
            }
            return call(.revoke, index, now, traits)
        case .revoked:
            guard let proofAt = proofTime(of: credential, now: now, traits: traits) else {
                return nil
            }
            guard proofAt <= now else { return .waiting(until: proofAt) }
            return call(.confirm, index, now, traits)
        case .proven, .accepted, .unconfirmed, .gone, .dead, .unusable, .refused, .lost:
            return nil
        }
    }

    /// One revocation would end what a code under exchange has brought, unheard.
    private func mayRevokeTooEarly(_ traits: ProviderTraits) -> Bool {
        traits.revokesWholeGrant && (isBehindCode || hasPendingCode)
    }

    var hasPendingCode: Bool { credentials.contains { $0.step == .codePending } }

    /// The state calls id tokens and subjects unusable, since most providers have no use for one.
    private mutating func takeUp(_ kinds: Set<CredentialKind>) {
        for index in credentials.indices
        where kinds.contains(credentials[index].kind) && credentials[index].step == .unusable
            && !credentials[index].hasRevokeIntent
        {
            credentials[index].step = .stored
        }
    }

    /// Ends what was revoked and needs no further call, also while the provider is paused.
    private mutating func acceptWithoutProof(now: WallTime, traits: ProviderTraits) {
        for index in credentials.indices where credentials[index].step == .revoked {
            guard proofTime(of: credentials[index], now: now, traits: traits) == nil else {
                continue
            }
            let isReal = credentials[index].wasEverSeen(traits)
            credentials[index].step = isReal ? .accepted : .unconfirmed
            failures = 0
        }
    }

    /// When the provider is asked whether the revoke worked; `nil` when it is not asked.
    private func proofTime(
        of credential: CredentialWork,
        now: WallTime,
        traits: ProviderTraits
    ) -> WallTime? {
        let askableAt = credential.askableAt(traits: traits)
        // Live after a revoke that answered success: only proof ends it.
        if credential.needsProof { return askableAt }
        guard credential.intent.wasLive, failures < Limits.confirmationsMax, let askableAt,
            askableAt <= now
        else { return nil }
        return askableAt
    }

    private mutating func call(
        _ work: TokenCall.Work,
        _ index: Int,
        _ now: WallTime,
        _ traits: ProviderTraits
    ) -> RevocationStep {
        credentials[index].begin(work, traits: traits)
        isBusy = true
        attempts += 1
        startedAt = startedAt ?? now
        retryAt = nil
        return .effect(.call(TokenCall(work, identity, credentials[index].id)))
    }

    mutating func finish(_ earned: Verdict, at now: WallTime) -> RevocationStep {
        verdict = earned
        endedAt = now
        retryAt = nil
        waitingSince = nil
        return .final(earned)
    }

    /// Where no such provider is configured, nothing can ever revoke.
    mutating func advanceWithoutVault(
        kind: RequestKind,
        now: WallTime,
        in environment: Environment
    ) -> RevocationStep {
        guard let policy = environment.providers[provider] else {
            return finish(.unrevoked, at: now)
        }
        if policy.traits.hasNoRevocationAPI { return finish(.manual, at: now) }
        return advanceWithoutCredential(kind: kind, now: now, policy: policy)
    }

    /// Only here the clock of the revocation deadline starts: an outage never starts it.
    private mutating func advanceWithoutCredential(
        kind: RequestKind,
        now: WallTime,
        policy: ProviderPolicy
    ) -> RevocationStep {
        let since = waitingSince ?? now
        waitingSince = since
        let last =
            credentials.contains { $0.step == .unconfirmed } ? Verdict.unconfirmed : .unrevoked
        switch policy.onUnrevocable {
        case .park:
            return .parked(.needsReauthentication, until: refusedAgainAt)
        case .proceed:
            let until = since + policy.revocationDeadline
            // Only refused credentials came, as under an unknown client: no sign-in would help.
            let isHopeless = credentials.isEmpty && refusedCount > 0
            guard kind == .deleteAccount, now < until, !isHopeless else {
                return finish(last, at: now)
            }
            return .parked(.needsReauthentication, until: min(until, refusedAgainAt ?? until))
        }
    }
}

// MARK: - Answers

extension Revocation {
    mutating func record(
        check answer: CheckAnswer,
        for id: CredentialID,
        traits: ProviderTraits?,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        guard let index = end(id, in: .stored, answer.failure, context) else { return [] }
        let isLastQuestion = credentials[index].isGivenUp && traits?.asksRefusedTokens ?? false
        switch answer {
        case .live:
            isCut = isCut && isAmbiguous(credentials[index])
            self.answer = nil
            credentials[index].lastLiveAt = context.now
            credentials[index].lastRefreshAt = context.now
            credentials[index].hear(.live, traits)
            forgiveLostCodes(after: index)
            credentials[index].endRefresh(nil)
            if isLastQuestion { credentials[index].refusals = nil }
            succeed(at: index)
        case .dead where credentials[index].kind != .subject:
            credentials[index].lastRefreshAt = context.now
            credentials[index].step = credentials[index].rotation.isInDoubt ? .unusable : .dead
            succeed(at: index)
        // Of a subject without a listed grant, the revocation says more.
        case .dead, .unknown:
            succeed(at: index)
            credentials[index].lastRefreshAt = context.now
            credentials[index].hear(.unknown, traits)
            // The provider honored nothing, so nothing was rotated.
            credentials[index].rotation.end()
            credentials[index].beginRevoking()
        case .failure(let failure):
            noteSpentBudget(failure, at: index, context.now)
            let effects = record(failure, at: index, &context)
            if credentials[index].step == .revoking { credentials[index].hear(.unknown, traits) }
            if isLastQuestion, [.rejected, .lost, .unusable].contains(failure) {
                credentials[index].step = .refused
                retry.retryNow()
            }
            return effects
        }
        return []
    }

    /// A refresh whose answer was lost spends the budget, so the verdict is `accepted` at best; not
    /// for a token that was never seen live, whose revocation would mean nothing.
    private mutating func noteSpentBudget(_ failure: EffectFailure, at index: Int, _ now: WallTime)
    {
        let credential = credentials[index]
        guard failure == .lost, credential.lastLiveAt != nil || credential.intent.wasLive else {
            return
        }
        credentials[index].lastRefreshAt = now
    }

    mutating func record(
        revoke answer: RevokeAnswer,
        for id: CredentialID,
        traits: ProviderTraits?,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        guard let index = end(id, in: .revoking, answer.failure, context) else { return [] }
        switch answer {
        case .success:
            self.answer = nil
            credentials[index].noteRevoked(traits)
            succeed(at: index)
        case .alreadyInvalid where credentials[index].rotation.isInDoubt:
            credentials[index].step = .unusable
            succeed(at: index)
        case .alreadyInvalid:
            // The intent was durable and the refresh token live before it: our own revoke did this.
            // Else a dead token is no proof: the grant may live, at every vendor.
            let isProof =
                credentials[index].kind == .refreshToken && credentials[index].intent.wasLive
            credentials[index].step = isProof ? .proven : .dead
            if isProof { proof = proof ?? .refusedAgain }
            succeed(at: index)
        case .grantGone:
            credentials[index].step = credentials[index].intent.wasLive ? .proven : .gone
            if !isAmbiguous(credentials[index]) { proof = .grantGone }
            forgiveLostCodes(after: index)
            succeed(at: index)
        case .unfit:
            credentials[index].step = .unusable
            succeed(at: index)
        case .userOnly:
            credentials[index].step = .unusable
            succeed(at: index)
            _ = finish(.manual, at: context.now)
        case .failure(let failure):
            return record(failure, at: index, traits: traits, &context)
        }
        return []
    }

    mutating func record(
        confirm answer: CheckAnswer,
        for id: CredentialID,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        guard let index = end(id, in: .revoked, answer.failure, context) else { return [] }
        switch answer {
        case .dead:
            let isProof = !credentials[index].rotation.isInDoubt
            // A successor may have outlived this revocation, as the token did the one before.
            let claim: CredentialStep = credentials[index].needsProof ? .unconfirmed : .accepted
            credentials[index].step = isProof ? .proven : claim
            let shown: Proof = credentials[index].kind == .subject ? .grantGone : .refusedAfter
            if isProof { proof = proof ?? shown }
            credentials[index].lastRefreshAt = context.now
            succeed(at: index)
        case .live:
            isCut = isCut && isAmbiguous(credentials[index])
            self.answer = nil
            credentials[index].contradict()
            credentials[index].endRefresh(nil)
            credentials[index].lastLiveAt = context.now
            credentials[index].lastRefreshAt = context.now
            retry.fail(&context)
        case .unknown:
            return record(.unusable, at: index, &context)
        case .failure(let failure):
            noteSpentBudget(failure, at: index, context.now)
            return record(failure, at: index, &context)
        }
        return []
    }

    /// A failure is never a verdict: it is a later try, a paused provider, or a credential less.
    private mutating func record(
        _ failure: EffectFailure,
        at index: Int,
        traits: ProviderTraits? = nil,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        lastFailure = failure.reason
        let mayRotate = credentials[index].rotation.isUnderWay
        credentials[index].endRefresh(failure)
        switch failure {
        case .misconfigured:
            attempts -= 1
            return [.pauseProvider(provider)]
        case .sealBroken:
            // An unusable subject would be taken up again.
            credentials[index].step = credentials[index].kind == .subject ? .refused : .unusable
            return [.announce(.sealBroken(provider))]
        case .vaultSealed:
            attempts -= 1
            isKeyMissing = true
            return [.announce(.vaultKeyMissing(provider))]
        case .refused where credentials[index].step == .revoked && !credentials[index].needsProof:
            retry.fail(&context)
            return []
        case .refused(let refusal):
            return note(refusal, at: index, mayRotate: mayRotate, traits: traits, &context)
        case .rejected where credentials[index].step == .stored && !mayRotate:
            return note(Refusal(status: nil), at: index, mayRotate: false, &context)
        case .throttled, .unreachable, .lost, .unusable, .rejected, .refusesAll, .notConfigured,
            .keys, .blocked:
            // Nothing was sent.
            if case .notConfigured = failure { attempts -= 1 }
            retry.fail(after: failure, &context)
            return []
        }
    }

    /// Pauses grow while a token outlives its revocation, or each try begins with a check.
    private mutating func succeed(at index: Int) {
        lastFailure = nil
        let credential = credentials[index]
        guard !credential.hasRevokeIntent || credential.step != .stored,
            !credentials.contains(where: { $0.needsProof && !$0.step.isFinal })
        else { return }
        failures = 0
    }

    /// Ends a call; `nil` for an answer that does not fit any more.
    private mutating func end(
        _ id: CredentialID,
        in step: CredentialStep,
        _ failure: EffectFailure?,
        _ context: StepContext
    ) -> Int? {
        isBusy = false
        // Where a client is refused, a call that was not made brought nothing newer.
        let isKept =
            switch failure {
            case .refusesAll?: context.lastAnswer == nil
            case .notConfigured?: true
            default: false
            }
        answer = (isKept ? answer : context.lastAnswer)?.deciding(failure)
        return credentials.firstIndex { $0.id == id && $0.step == step }
    }
}
