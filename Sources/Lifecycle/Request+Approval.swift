/// No revocation and no purge before an operator has approved the plan, where that is asked for.
extension Request {
    /// Whether an approval stands before the next step of it.
    private func needsApproval(_ around: Surroundings) -> Bool {
        kind == .deleteAccount && purgeStartedAt == nil && around.isApprovalRequired
    }

    /// The identities that a plan has to name.
    package var links: [PurgePlan.Link] {
        revocations.map {
            PurgePlan.Link(identity: $0.identity, provider: $0.provider, clientID: $0.clientID)
        }
    }

    /// Stops before a revocation that nobody approved, and before a purge whose plan was not made
    /// again just now.
    ///
    /// - Returns: Whether it may go on; otherwise the request waits for the plan, or is parked.
    mutating func passesApproval(
        in stage: Stage,
        _ now: WallTime,
        around: Surroundings,
        into effects: inout [RequestEffect]
    ) -> Bool {
        guard needsApproval(around) else { return true }
        let known = approval ?? Approval()
        let isShown = known.plan?.links == links
        var outlook = Outlook()
        if known.isBusy {
            outlook.isBusy = true
        } else if isShown, known.isGiven, stage < .purging || known.isConfirmed {
            return true
        } else if isShown, !known.isGiven {
            outlook.notePark(.awaitingApproval, until: nil)
        } else if purges.contains(where: { around.pausedTargets.contains($0.target) }) {
            outlook.notePark(.targetPaused, until: nil)
        } else if let retryAt = known.retryAt, retryAt > now {
            outlook.noteWait(until: retryAt)
        } else {
            outlook.isBusy = true
            effects.append(.plan)
        }
        approval = known
        approval?.isBusy = outlook.isBusy
        if outlook.isBusy { approval?.retryAt = nil }
        adopt(outlook, stage: stage, now: now)
        return false
    }

    mutating func record(plan result: PlanResult, _ moment: inout Moment) -> [RequestEffect] {
        guard approval?.isBusy ?? false else { return [] }
        approval?.isBusy = false
        guard !phase.isEnded else { return [] }
        switch result {
        case .made(let plan):
            // An identity that became known meanwhile is not in it.
            guard plan.links == links else { return [] }
            return approval?.adopt(plan) ?? false ? [.announce(.planChanged)] : []
        case .trouble(let target, let trouble):
            approval?.fail(trouble, &moment)
            return trouble == .misconfigured ? [.pauseTarget(target)] : []
        }
    }

    mutating func postponePlan(until: WallTime) {
        guard approval?.isBusy ?? false else { return }
        approval?.isBusy = false
        approval?.retryAt = until
    }

    /// Takes an operator's word for one plan; saying it twice does no harm.
    mutating func approve(
        _ hash: String,
        by uid: UInt32,
        at now: WallTime
    ) throws(OperationRefusal) -> [RequestEffect] {
        guard purgeStartedAt == nil, let plan = approval?.plan else { throw .noPlan }
        guard plan.hash == hash else { throw .planChanged }
        guard uid != submittedBy else { throw .sameOperator }
        guard approval?.isGiven == false else { return [] }
        approval?.given = Approval.Given(hash: hash, at: now, by: uid)
        return [.announce(.approved)]
    }

    /// A newly learned identity is in no plan that somebody has approved.
    mutating func resetApproval() -> [RequestEffect] {
        let hadApproval = approval?.given != nil
        approval?.reset()
        return hadApproval ? [.announce(.planChanged)] : []
    }
}
