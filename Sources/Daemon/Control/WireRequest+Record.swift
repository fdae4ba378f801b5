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
        if request.isWithoutSpool { isWithoutSpool = true }
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
        return WireBlock(target: target.rawValue, error: lastFailure)
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
        if needsUser, let traits {
            userAction = WireUserAction(
                url: traits.userActionURL,
                text: traits.userActionText,
                isConfigured: traits.isUserActionConfigured
            )
        }
        if revocation.hasUnheldTokens {
            unheld = WireUnheld(
                lostCodes: revocation.credentials.count { $0.step == .lost },
                refusedCredentials: revocation.refusedCount
            )
        }
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
