/// No revocation and no purge before an operator has approved the plan, where that is asked for.
extension Request {
    /// False also for what has to wait anyway: it is compared when it no longer does.
    private func needsApproval(of next: Int?, _ now: WallTime, _ environment: Environment) -> Bool {
        guard kind == .deleteAccount, environment.isApprovalRequired else { return false }
        guard purgeStartedAt != nil else { return true }
        guard let work = next.map({ purges[$0] }), !work.isBusy,
            !environment.pausedStores.contains(work.store)
        else { return false }
        return work.retryAt.map { $0 <= now } ?? true
    }

    /// The stores whose parts can be compared: all of them before the purge, then those that wait
    /// for nothing but their turn.
    private func comparable(_ next: Int?, _ environment: Environment) -> Set<StoreName> {
        guard purgeStartedAt != nil else { return Set(purges.map(\.store)) }
        // A store that could not be asked holds up no other.
        if let next, approval?.failures ?? 0 > 0 { return [purges[next].store] }
        let open = purges.filter { work in
            work.step == .waiting && !work.isBusy && !work.isOnHold(environment)
                && !environment.pausedStores.contains(work.store)
        }
        return Set(open.map(\.store))
    }

    /// Whether a purge may go out: no approval is needed, or its part was compared just now.
    package func mayPurge(
        _ store: StoreName,
        at now: WallTime,
        _ environment: Environment
    ) -> Bool {
        guard environment.isApprovalRequired else { return true }
        return approval?.isConfirmed(store, at: now) ?? false
    }

    package var planSources: [PlanSource] {
        let known = approval?.basis?.parts ?? []
        return purges.compactMap { work in
            let part = known.first { $0.store == work.store }
            guard approval?.asked.contains(work.store) ?? false else {
                return part.map(PlanSource.kept)
            }
            guard work.mayHaveBegun, let part else { return .asked(work.store) }
            return .rest(of: part)
        }
    }

    /// A comparison counts for as long as one purge follows the other.
    mutating func expireConfirmation(_ environment: Environment) {
        guard approval?.confirmation != nil else { return }
        guard phase.parkReason == nil, purges.contains(where: \.isBusy) else {
            approval?.confirmation = nil
            return
        }
        approval?.unconfirm { environment.pausedStores.contains($0) || environment.isHeld($0) }
    }

    package var links: [PurgePlan.Link] {
        revocations.map {
            PurgePlan.Link(identity: $0.identity, provider: $0.provider, clientID: $0.clientID)
        }
    }

    /// False where the request waits for the plan, or is parked.
    mutating func passesApproval(
        in stage: Stage,
        of next: Int? = nil,
        _ decision: inout Decision
    ) -> Bool {
        let (now, environment) = (decision.now, decision.environment)
        guard needsApproval(of: next, now, environment) else { return true }
        let known = approval ?? Approval()
        let asked = comparable(next, environment)
        let isShown = known.plan?.links == links
        var outlook = Outlook()
        if known.isBusy {
            outlook.isBusy = true
        } else if isShown, known.isGiven,
            stage < .purging || known.isConfirmed(next.map { purges[$0].store }, at: now)
        {
            return true
        } else if isShown, !known.isGiven {
            outlook.notePark(.awaitingApproval)
        } else if !asked.isDisjoint(with: environment.pausedStores) {
            outlook.notePark(.storePaused)
        } else if let retryAt = known.retry.wait(at: now) {
            outlook.noteWait(until: retryAt)
        } else {
            outlook.isBusy = true
            decision.effects.append(.plan)
        }
        approval = known
        if outlook.isBusy, !known.isBusy { approval?.begin(asking: asked) }
        adopt(outlook, stage: stage, now: now)
        return false
    }

    mutating func record(plan result: PlanResult, _ context: inout StepContext) -> [RequestEffect] {
        guard case .underWay(let asked, let isStale)? = approval?.planning else { return [] }
        approval?.planning = .idle
        guard !phase.isEnded, !isStale else { return [] }
        switch result {
        case .made(let plan):
            // An identity that became known meanwhile is not in it.
            guard plan.links == links else { return [] }
            return approval?.adopt(plan, of: asked, at: context.now) ?? false
                ? [.announce(.planChanged)] : []
        case .failure(let store, let failure):
            approval?.fail(failure, at: store, &context)
            return failure == .misconfigured ? [.pauseStore(store)] : []
        }
    }

    /// It takes two operators where one of them may have submitted the request.
    mutating func approve(
        _ hash: String,
        by uid: UInt32,
        at now: WallTime
    ) throws(OperationRefusal) -> [RequestEffect] {
        let isOpen = purgeStartedAt == nil || purges.contains { $0.step == .waiting }
        guard isOpen, let approval, let plan = approval.plan else { throw .noPlan }
        guard plan.hash == hash else { throw .planChanged }
        guard uid != submittedBy else { throw .sameOperator }
        guard case .shown(_, let first) = approval.state else { return [] }
        let given = Approval.Given(hash: hash, at: now, by: uid)
        if isAnonymous, first == nil {
            self.approval?.state = .shown(plan, first: given)
        } else {
            guard uid != first?.by else { throw .sameOperator }
            self.approval?.state = .approved(plan, by: given, first: first)
        }
        return [.announce(.approved)]
    }

    /// A newly learned identity is in no plan that somebody has approved.
    mutating func resetApproval() -> [RequestEffect] {
        let hadApproval = approval?.latest != nil
        approval?.reset()
        return hadApproval ? [.announce(.planChanged)] : []
    }
}
