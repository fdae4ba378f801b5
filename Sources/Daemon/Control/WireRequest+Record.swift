import Control
import Engine
import Lifecycle
import Storage

/// A request with what is needed to show it.
struct RequestView: Sendable {
    let request: Request
    /// `nil` once it has ended.
    let user: UserID?
    let updatedAt: WallTime
    let providers: [ProviderName: any IdentityProvider]
    var rechecks: [Recheck] = []
    var openRecheck: RecheckOutlook?
    var addenda: [Addendum] = []
}

extension RequestView {
    init(_ record: RequestRecord, _ providers: [ProviderName: any IdentityProvider]) {
        self.init(
            request: record.request,
            user: record.user,
            updatedAt: record.updatedAt,
            providers: providers,
            rechecks: record.rechecks,
            openRecheck: record.openRecheck,
            addenda: record.addenda
        )
    }
}

extension WireRequest {
    init(_ view: RequestView, hasSteps: Bool) {
        let request = view.request
        self.init(
            id: request.id,
            kind: request.kind,
            userID: Self.shownUser(view),
            state: request.phase.state,
            createdAt: request.createdAt
        )
        detail = request.phase.parkReason?.rawValue ?? request.endDetail
        if view.openRecheck?.returnedAt != nil { detail = "data_returned" }
        updatedAt = view.updatedAt
        acceptedAt = request.acceptedAt
        deadlineAt = request.deadlineAt
        let blocked = request.phase.isEnded ? [] : request.purges.compactMap(\.blocker)
        if !blocked.isEmpty { blockedBy = blocked }
        if !request.unreadSources.isEmpty { unreadSources = request.unreadSources.sorted() }
        nextAt = request.phase.isEnded ? view.openRecheck?.dueAt : request.dueAt
        identities = request.revocations.map { revocation in
            WireIdentity(
                revocation,
                traits: view.providers[revocation.provider]?.traits,
                isParked: request.phase.parkReason == .needsReauthentication
            )
        }
        guard hasSteps else { return }
        steps = [WireStep(lookupOf: request), WireStep(planOf: request)].compactMap(\.self)
        steps += request.revocations.map { WireStep($0, in: view) }
        for purge in request.purges { steps += WireStep.steps(of: purge, in: request) }
        steps += view.rechecks.flatMap(WireStep.steps)
        if let openRecheck = view.openRecheck { steps.append(WireStep(openRecheck)) }
        if !view.addenda.isEmpty { addenda = view.addenda.map(WireAddendum.init) }
    }

    /// The same words as in the spool.
    private static func shownUser(_ view: RequestView) -> String {
        if let user = view.user { return user.exposeText() }
        let isErased = view.request.kind == .deleteAccount && view.request.phase == .completed
        return isErased ? "erased:\(view.request.id)" : ""
    }
}

extension PurgeWork {
    fileprivate var blocker: WireBlock? {
        guard obstacle != nil, let lastFailure else { return nil }
        return WireBlock(store: store.rawValue, error: lastFailure)
    }
}

extension WireIdentity {
    init(_ revocation: Revocation, traits: ProviderTraits?, isParked: Bool) {
        self.init(
            identityID: revocation.identity,
            provider: revocation.provider.rawValue,
            state: CredentialState(revocation.credentials)
        )
        clientID = revocation.clientID
        verdict = revocation.verdict.map(WireValue.known)
        updatedAt = revocation.endedAt ?? revocation.startedAt
        let needsUser =
            revocation.verdict?.mayLeaveLink ?? (isParked && revocation.waitingSince != nil)
        if needsUser { userAction = traits.map(WireUserAction.init) }
        unheld = WireUnheld(revocation)
    }

    init(_ record: IdentityRecord) {
        let held: CredentialState = record.lastLiveAt == nil ? .unknown : .live
        let settled: CredentialState = record.credentialCount == 0 ? .dead : held
        let state: CredentialState = record.hasPendingCode ? .pending : settled
        self.init(identityID: record.id, provider: record.provider.rawValue, state: state)
        clientID = record.clientID
        credentialCount = record.credentialCount
        isSubjectFirstSeen = record.subjectFirstSeenAt != nil
        updatedAt = record.updatedAt
    }
}

extension WireUserAction {
    init(_ traits: ProviderTraits) {
        self.init(
            url: traits.userActionURL,
            text: traits.userActionText,
            isConfigured: traits.isUserActionConfigured
        )
    }
}

extension WireUnheld {
    init?(_ revocation: Revocation) {
        guard revocation.hasUnheldTokens else { return nil }
        self.init(
            lostCodes: revocation.credentials.count { $0.step == .lost },
            refusedCredentials: revocation.refusedCount
        )
    }
}

extension WireFailedCode {
    init?(_ code: FailedCode) {
        guard let outcome = CodeOutcome(rawValue: code.phase.rawValue) else { return nil }
        self.init(createdAt: code.createdAt, outcome: outcome, failures: code.failures)
        (status, error) = (code.answer?.status, code.answer?.error)
    }
}

extension WireAddendum {
    init(_ addendum: Addendum) {
        self.init(
            at: addendum.recordedAt,
            identityID: addendum.identity,
            provider: addendum.provider.rawValue,
            verdict: addendum.verdict,
            event: addendum.event,
            occurredAt: addendum.occurredAt,
            evidence: Receipt.evidence(of: addendum)
        )
    }
}

extension CredentialState {
    init(_ credentials: [CredentialWork]) {
        let open = credentials.filter { !$0.step.isFinal }
        if credentials.isEmpty {
            self = .unknown
        } else if open.isEmpty {
            self = credentials.contains { $0.step == .refused } ? .unknown : .dead
        } else if open.contains(where: { $0.step == .stored && $0.lastLiveAt != nil }) {
            self = .live
        } else if open.contains(where: { $0.step == .codePending }) {
            self = .pending
        } else {
            self = .unknown
        }
    }
}

extension WireStep {
    init(_ revocation: Revocation, in view: RequestView) {
        let traits = view.providers[revocation.provider]?.traits
        let kind = Self.kind(of: revocation, traits: traits)
        self.init(
            name: "\(kind.rawValue) \(revocation.provider)",
            kind: kind,
            state: Self.state(of: revocation, in: view.request),
            attempts: revocation.attempts
        )
        provider = revocation.provider.rawValue
        verdict = revocation.verdict?.rawValue
        lastError = revocation.lastFailure
        answer = revocation.answer.map(WireAnswer.init)
        startedAt = revocation.startedAt
        endedAt = revocation.endedAt
        durationMilliseconds = Self.milliseconds(from: startedAt, to: endedAt)
        let isGivenUp = view.request.phase.parkReason == .needsReauthentication
        retryAt = revocation.retryAt ?? (isGivenUp ? revocation.refusedAgainAt : nil)
    }

    private static func kind(of revocation: Revocation, traits: ProviderTraits?) -> StepKind {
        guard revocation.verdict == nil else { return .revoke }
        let open = revocation.credentials.filter { !$0.step.isFinal }
        if open.contains(where: { $0.step == .revoking }) { return .revoke }
        if open.contains(where: { $0.step == .revoked }) { return .confirm }
        let stored = open.filter { $0.step == .stored }
        guard !stored.isEmpty else {
            return open.contains { $0.step == .codePending } ? .exchange : .revoke
        }
        let isAsked = stored.contains {
            $0.kind == .refreshToken && $0.lastLiveAt == nil && $0.lastRefreshAt == nil
        }
        return isAsked && traits?.canCheckRefreshToken == true ? .check : .revoke
    }

    private static func state(of revocation: Revocation, in request: Request) -> StepState {
        if let verdict = revocation.verdict {
            switch verdict {
            case .proven, .accepted, .unconfirmed, .alreadyGone, .tokenDead: return .done
            case .nothingToRevoke, .manual, .unrevoked, .abandoned: return .skipped
            }
        }
        let hasBegun = revocation.startedAt != nil
        return openState(request, revocation.isBusy, revocation.retryAt, hasBegun: hasBegun)
    }

    /// The state of work that has not ended; of an ended request it is skipped.
    private static func openState(
        _ request: Request,
        _ isBusy: Bool,
        _ retryAt: WallTime?,
        isDue: Bool = true,
        hasBegun: Bool = false
    ) -> StepState {
        if request.phase.isEnded { return .skipped }
        if isBusy { return .running }
        if retryAt != nil { return .retrying }
        guard isDue, request.phase.parkReason == nil else { return isDue ? .parked : .pending }
        return hasBegun ? .running : .pending
    }

    /// One step, or one for each store with data.
    static func steps(of recheck: Recheck) -> [WireStep] {
        func step(_ name: String, _ store: StoreName?) -> WireStep {
            let state: StepState =
                recheck.outcome == .unreadable || recheck.outcome == .abandoned ? .skipped : .done
            var step = WireStep(name: name, kind: .recheck, state: state, attempts: 1)
            step.store = store?.rawValue
            step.verdict = recheck.outcome.rawValue
            step.endedAt = recheck.at
            return step
        }
        guard !recheck.found.isEmpty else { return [step("recheck", nil)] }
        return recheck.found.map { step("recheck \($0.store)", $0.store) }
    }

    init(_ outlook: RecheckOutlook) {
        self.init(name: "recheck", kind: .recheck, state: .pending)
        retryAt = outlook.dueAt
    }

    /// The two steps of one store, whose calls are counted together.
    ///
    /// Those of the verification are the one that succeeded, or the failures since the last purge.
    static func steps(of work: PurgeWork, in request: Request) -> [WireStep] {
        let checks: Int =
            switch work.step {
            case .waiting: 0
            case .purged: min(work.failures, work.attempts)
            case .verified: min(1, work.attempts)
            }
        var purge = WireStep(
            name: "purge \(work.store)",
            kind: .purge,
            state: work.step == .waiting ? state(of: work, in: request) : .done,
            attempts: work.attempts - checks
        )
        var verify = WireStep(
            name: "verify \(work.store)",
            kind: .verify,
            state: .pending,
            attempts: checks
        )
        purge.store = work.store.rawValue
        verify.store = work.store.rawValue
        purge.startedAt = work.startedAt
        verify.endedAt = work.endedAt
        verify.durationMilliseconds = milliseconds(from: work.startedAt, to: work.endedAt)
        switch work.step {
        case .waiting:
            purge.lastError = work.lastFailure
            purge.obstacle = work.obstacle
            purge.retryAt = work.retryAt
            if work.counts.heldCount > 0 {
                purge.verdict = "\(work.counts.heldCount) rows held"
            }
            if request.phase.isEnded { verify.state = .known(.skipped) }
        case .purged:
            verify.state = .known(state(of: work, in: request))
            verify.lastError = work.lastFailure
            verify.obstacle = work.obstacle
            verify.retryAt = work.retryAt
        case .verified:
            verify.state = .known(.done)
            verify.verdict = "clean"
        }
        guard work.step != .waiting else { return [purge, verify] }
        if work.counts.isWithoutAnyKey || work.counts.isGivenUp {
            purge.state = .known(.skipped)
            purge.verdict = work.counts.isGivenUp ? "given up" : "not looked for"
            verify.verdict = purge.verdict
            if work.step == .verified { verify.state = .known(.skipped) }
        } else if work.counts.isAccepted {
            purge.verdict = "accepted"
            if work.step == .verified { verify.verdict = purge.verdict }
        } else {
            let least = work.counts.isAtLeast ? "at least " : ""
            let newer =
                work.counts.newerCount > 0 ? ", \(work.counts.newerCount) left as newer" : ""
            purge.verdict = "\(least)\(work.counts.workedCount) rows\(newer)"
            if work.step == .verified, work.counts.isNotLookedFor {
                let tables = work.counts.unreached.map { "'\($0.name)'" }
                verify.verdict = "clean, but not looked for in " + tables.joined(separator: ", ")
            }
        }
        return [purge, verify]
    }

    private static func state(of work: PurgeWork, in request: Request) -> StepState {
        // Nothing is verified before every store is purged.
        let begins: Stage = work.step == .waiting ? .purging : .verifying
        let isDue = request.phase.stage.map { $0 >= begins } ?? false
        let hasBegun = work.startedAt != nil
        return openState(request, work.isBusy, work.retryAt, isDue: isDue, hasBegun: hasBegun)
    }

    private static func milliseconds(from start: WallTime?, to end: WallTime?) -> Int64? {
        guard let start, let end else { return nil }
        return max(0, end.since(start).milliseconds)
    }

    init?(lookupOf request: Request) {
        guard let lookup = request.lookup else { return nil }
        let open = Self.openState(request, false, lookup.retryAt)
        self.init(
            name: "lookup \(lookup.directory)",
            kind: .lookup,
            state: lookup.isBusy ? .running : lookup.isDone ? .done : open,
            attempts: lookup.attempts
        )
        provider = lookup.directory.rawValue
        lastError = lookup.lastFailure
        retryAt = lookup.retryAt
    }

    /// `nil` while none was ever needed; it names the store that could not be counted.
    init?(planOf request: Request) {
        guard let approval = request.approval else { return nil }
        let isDone = approval.plan != nil && approval.lastFailure == nil
        let open = Self.openState(request, false, approval.retryAt)
        self.init(
            name: "plan",
            kind: .plan,
            state: approval.isBusy ? .running : isDone ? .done : open,
            attempts: approval.failures + (approval.plan == nil ? 0 : 1)
        )
        if approval.plan != nil {
            let waits =
                approval.first == nil ? ParkReason.awaitingApproval.rawValue : Self.halfApproved
            verdict = approval.isGiven ? "approved" : waits
        }
        store = approval.lastFailure == nil ? nil : approval.failingStore?.rawValue
        lastError = approval.lastFailure
        retryAt = approval.retryAt
    }
}
