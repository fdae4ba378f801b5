import Control
import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Stores

extension DaemonBackend {
    func act(
        _ action: RequestAction,
        on id: RequestID,
        caller: Caller
    ) async throws(ControlProblem) -> WireRequest {
        switch action {
        case .hold, .release, .abandon:
            await parts.holdTurn.enter()
            defer { parts.holdTurn.leave() }
            return try await take(action, on: id, caller)
        case .cancel, .retry, .approve: return try await take(action, on: id, caller)
        }
    }

    private func take(
        _ action: RequestAction,
        on id: RequestID,
        _ caller: Caller
    ) async throws(ControlProblem) -> WireRequest {
        let record = try await record(id)
        if case .abandon(let reason, nil) = action, record.openRecheck != nil {
            return try await abandonRecheck(of: id, reason, caller)
        }
        if case .retry = action, record.openRecheck?.returnedAt != nil {
            try await attempt("retry") { try await parts.state.recheckNow(id, at: parts.now()) }
            report(action, on: id, caller)
            return try await show(id, caller: caller)
        }
        try await check(action, on: record)
        if case .approve(let plan) = action { try await compare(plan, of: record) }
        // Where the user's hold still stops it, only its own is lifted.
        if try await !isHeldByUser(after: action, record) {
            try await operate(action, on: record, caller)
        }
        report(action, on: id, caller)
        return try await show(id, caller: caller)
    }

    private func operate(
        _ action: RequestAction,
        on record: RequestRecord,
        _ caller: Caller
    ) async throws(ControlProblem) {
        let id = record.request.id
        let event = try event(of: action, caller)
        let name = AbandonNote.name(of: id)
        var before: String?
        if case .abandon(let reason, _) = action {
            before = try await attempt(action.verb) { try await parts.state.note(name) }
            // Before the verdict, or a crash in between would leave a receipt without its reason.
            let note = AbandonNote(uid: caller.actorUID, reason: reason)
                .following(before.flatMap(AbandonNote.init(text:))).text
            try await attempt(action.verb) { try await parts.state.setNote(name, to: note) }
        }
        let outcome = try await attempt(action.verb) { try await parts.engine.operate(id, event) }
        if outcome != .done, case .abandon = action {
            try await attempt(action.verb) { try await parts.state.setNote(name, to: before) }
        }
        switch outcome {
        case .done: return
        case .refused(let refusal): throw Self.problem(refusal, action, record.request)
        case .notOpen:
            throw Self.problem(.alreadyEnded, action, try await self.record(id).request)
        }
    }

    /// Records the hold of this request alone before the engine learns of it.
    ///
    /// Returns whether the hold was lifted and that on the user still stops the request.
    private func isHeldByUser(
        after action: RequestAction,
        _ record: RequestRecord
    ) async throws(ControlProblem) -> Bool {
        let id = record.request.id
        switch action {
        case .cancel, .retry, .approve, .abandon: return false
        case .hold(let reason):
            try await attempt("hold") {
                try await parts.state.setOwnHold(true, reason: reason, of: id)
            }
            return false
        case .release:
            return try await attempt("release") {
                try await parts.state.setOwnHold(false, of: id)
                return try await parts.state.userHold(record.userHash).since != nil
            }
        }
    }

    private func abandonRecheck(
        of id: RequestID,
        _ reason: String,
        _ caller: Caller
    ) async throws(ControlProblem) -> WireRequest {
        let uid = caller.actorUID
        let note = AbandonNote(uid: uid, reason: reason).text
        let wasOpen = try await attempt("abandon") {
            try await parts.state.abandonRecheck(
                of: id,
                by: uid,
                at: parts.now(),
                note: (AbandonNote.name(ofRecheck: id), note)
            )
        }
        guard wasOpen else { throw ControlProblem(.wrongState, "its rechecks have ended") }
        parts.logger.note(
            .recheckClosed,
            ["request.id": "\(id)", "detail": "\(Recheck.Outcome.abandoned.rawValue)"]
        )
        report(.abandon(reason: reason, provider: nil), on: id, caller)
        return try await show(id, caller: caller)
    }

    private func check(
        _ action: RequestAction,
        on record: RequestRecord
    ) async throws(ControlProblem) {
        let asked: OperatorAction
        switch action {
        case .cancel: asked = .cancel
        case .retry: asked = .retry
        case .hold: asked = .hold
        case .approve: asked = .approve
        case .release:
            let hold = try await attempt("release") {
                try await parts.state.userHold(record.userHash)
            }
            asked = .release(isUserHeld: hold.since != nil, hasOwnHold: record.hasOwnHold)
        case .abandon(_, let provider):
            let lanes = parts.registry.current.configuration.providers.map(\.name)
            asked = .abandon(provider, configured: Set(lanes))
        }
        do {
            try record.request.check(asked)
        } catch {
            throw Self.problem(error, action, record.request)
        }
    }

    private func event(
        of action: RequestAction,
        _ caller: Caller
    ) throws(ControlProblem) -> RequestEvent {
        switch action {
        case .cancel: .cancel
        case .retry: .retry
        case .hold: .hold
        case .release: .release
        case .approve(let plan): .approve(plan, by: try approver(caller))
        case .abandon: .abandon
        }
    }

    private static func problem(
        _ refusal: OperationRefusal,
        _ action: RequestAction,
        _ request: Request
    ) -> ControlProblem {
        switch refusal {
        case .tooLate:
            ControlProblem(
                .tooLate,
                action.verb == "abandon"
                    ? "a store is at work; repeat the command when it has answered: expungectl show"
                        + " \(request.id)"
                    : nil
            )
        case .alreadyEnded:
            action == .cancel && request.phase == .completed
                ? ControlProblem(.tooLate, "the request has completed")
                : ControlProblem(.wrongState, "the request has ended")
        case .nothingToAbandon:
            ControlProblem(
                .wrongState,
                "it waits for no revocation, key, other spelling or recheck to give up"
            )
        case .notOnHold: ControlProblem(.wrongState, "the request itself is not on hold")
        case .holdExists: ControlProblem(.wrongState, "another hold has that name")
        case .deletionInProgress: ControlProblem(.deletionInProgress)
        case .noPlan: ControlProblem(.wrongState, "no plan of it waits for an approval")
        case .planChanged: planChanged(to: request.approval?.plan)
        case .sameOperator: ControlProblem(.sameOperator)
        case .userOnHold:
            ControlProblem(.wrongState, "the user is on hold; see: expungectl show \(request.id)")
        case .unknownProvider: ControlProblem(.unknownProvider)
        case .providersOpen:
            ControlProblem(
                .wrongState,
                "other providers are not done yet; wait for them, or name no provider"
            )
        }
    }

    /// A reason is the operator's own words, and so for the state and the receipt alone.
    private func report(_ action: RequestAction, on id: RequestID, _ caller: Caller) {
        var facts: Logger.Metadata = ["request.id": "\(id)"]
        switch action {
        case .cancel, .retry, .hold, .release: break
        case .approve(let plan): facts["detail"] = "\(plan)"
        case .abandon(_, let provider): facts["provider"] = provider.map { "\($0)" }
        }
        audit(action.verb, caller, facts)
    }

    func setHold(
        _ isHeld: Bool,
        user: UserID,
        reason: String?,
        caller: Caller
    ) async throws(ControlProblem) -> WireUserHold {
        let userHash = hash(user)
        let hold = try await setHold(isHeld, userHash, reason: reason, caller)
        return WireUserHold(
            name: WireHold.name(ofUser: userHash),
            isHeld: isHeld,
            since: isHeld ? hold.since : nil,
            requestIDs: hold.openRequests
        )
    }

    /// Returns the hold, and which requests it stops or stopped.
    func setHold(
        _ isHeld: Bool,
        _ userHash: [UInt8],
        reason: String?,
        _ caller: Caller
    ) async throws(ControlProblem) -> UserHold {
        await parts.holdTurn.enter()
        defer { parts.holdTurn.leave() }
        let verb = isHeld ? "hold_user" : "release_user"
        let uid = caller.actorUID
        let hold = try await attempt(verb) {
            let (state, now) = (parts.state, parts.now())
            return isHeld
                ? try await state.holdUser(userHash, reason: reason, by: uid, at: now)
                : try await state.releaseUser(userHash, by: uid, at: now)
        }
        // A replay may have read the holds before.
        if isHeld {
            await parts.engine.userHeld()
            try await attempt(verb) { try await parts.engine.settleRules() }
        }
        guard isHeld || hold.since != nil || !hold.openRequests.isEmpty else {
            throw ControlProblem(.holdNotFound, "this user is not on hold")
        }
        for id in hold.openRequests {
            // One that ended meanwhile, or was not on hold, is as it should be.
            _ = try await attempt(verb) {
                try await parts.engine.operate(id, isHeld ? .hold : .release)
            }
        }
        audit(verb, caller)
        return hold
    }

    /// The cutoff of a dry run is now: as if the request were made at this moment.
    func makePlan(for user: UserID, caller: Caller) async throws(ControlProblem) -> WirePlan {
        let userHash = hash(user)
        let known = try await attempt("plan") { try await parts.state.identities(userHash) }
        let adapters = parts.registry.current
        let (id, now) = (parts.generator.requestID(), parts.now())
        let order = PlanOrder(
            order: PurgeOrder(request: id, user: user, cutoff: now),
            userHash: userHash,
            links: known.map {
                PurgePlan.Link(identity: $0.id, provider: $0.provider, clientID: $0.clientID)
            },
            sources: adapters.configuration.stores.map { .asked($0.name) }
        )
        switch await adapters.forEngine.planner(parts.hasher).make(order) {
        case .made(let plan):
            audit("plan", caller)
            return WirePlan(plan, state: .notRequired)
        case .failure(let store, let failure): throw Self.planFailed(store, failure)
        }
    }

    func plan(of id: RequestID, caller: Caller) async throws(ControlProblem) -> WirePlan {
        let record = try await record(id)
        guard let approval = record.request.approval, let plan = approval.plan else {
            throw ControlProblem(.wrongState, "no plan was made for the request yet")
        }
        let isRequired = parts.registry.current.configuration.requests.approval == .required
        var wire = WirePlan(
            plan,
            state: approval.isGiven ? .approved : isRequired ? .awaitingApproval : .notRequired
        )
        wire.requestID = id
        wire.approvedAt = approval.given?.at
        wire.approvedBy = (approval.given?.by).map { Int($0) }
        wire.approvalsRequired = record.request.isAnonymous ? 2 : 1
        wire.firstApprovedBy = (approval.first?.by).map { Int($0) }
        if let earlier = approval.earlier {
            wire.changes = plan.changes(since: earlier).map(WirePlanChange.init)
        }
        return wire
    }

    /// Makes the plan again before an operator approves it, as long as nothing of it is done.
    ///
    /// A store that cannot be asked now stops nothing: the plan is compared again before its purge.
    private func compare(_ hash: String, of record: RequestRecord) async throws(ControlProblem) {
        let request = record.request
        guard let user = record.user, let approval = request.approval, !approval.isGiven,
            let shown = approval.plan, shown.hash == hash, request.purgeStartedAt == nil
        else { return }
        // A store on hold may have no part in it.
        let names = Set(shown.parts.map(\.store))
        let order = PlanOrder(
            order: PurgeOrder(request: request.id, user: user, cutoff: request.cutoff),
            userHash: record.userHash,
            links: request.links,
            sources: request.purges.map(\.store).filter(names.contains).map { .asked($0) }
        )
        let made = await parts.registry.current.forEngine.planner(parts.hasher).make(order)
        guard case .made(let plan) = made, plan.hash != hash else { return }
        _ = try await attempt("approve") { try await parts.engine.operate(request.id, .retry) }
        throw Self.planChanged(to: plan)
    }

    /// Waiting helps where the store does not answer, and nowhere else.
    private static func planFailed(_ store: StoreName, _ failure: EffectFailure) -> ControlProblem {
        switch failure {
        case .unreachable, .throttled, .lost:
            return ControlProblem(
                .unavailable,
                "store '\(store)' cannot be asked now: \(failure.code)",
                retryAfter: RetryPolicy.caller.first
            )
        case .unusable, .rejected, .refused, .refusesAll, .misconfigured, .sealBroken,
            .notConfigured, .vaultSealed, .keys, .blocked:
            let cause = failure.obstacle.map { "\(failure.code): \($0.text)" } ?? failure.reason
            return ControlProblem(.planRefused, "store '\(store)': \(cause)")
        }
    }

    private static func planChanged(to plan: PurgePlan?) -> ControlProblem {
        guard let plan else { return ControlProblem(.planChanged) }
        return ControlProblem(
            .planChanged,
            "the hash of the plan is \(plan.hash): it changed since, or another was given"
        )
    }

    private func approver(_ caller: Caller) throws(ControlProblem) -> UInt32 {
        guard let uid = caller.operatorUID else {
            throw ControlProblem(
                .operatorUnknown,
                "/proc hides who logged in; install the drop-in expunged-approval.conf"
            )
        }
        return uid
    }
}
