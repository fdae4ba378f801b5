package import Lifecycle

extension EngineCore {
    /// Uses free places for plans; what is held or over by now is left out.
    mutating func fillPlans(at now: WallTime) {
        while let id = plans.next() {
            guard let run = window[id], mayPerform(run) else {
                plans.finished()
                apply(.postponed(.plan, until: now), to: id, ticket: nil, at: now)
                continue
            }
            let request = run.loaded.request
            actions.append(
                .plan(
                    PlanOrder(
                        order: PurgeOrder(
                            request: id,
                            user: run.loaded.user,
                            cutoff: request.cutoff
                        ),
                        userHash: run.loaded.userHash,
                        links: request.links,
                        sources: request.planSources
                    )
                )
            )
        }
    }

    mutating func planEnded(_ id: RequestID, _ result: PlanResult, at now: WallTime) {
        plans.finished()
        apply(.planned(result), to: id, ticket: nil, at: now)
    }

    /// Lets go of what waits for an approval that the configuration no longer asks for; once, after
    /// the start.
    package mutating func releaseUnapproved(at now: WallTime) {
        if !environment.isApprovalRequired { wake(.awaitingApproval, at: now) }
    }

    /// Requests that wait for an approval go on where none is asked for any more; where it now is,
    /// what is in the window stops before its next step.
    mutating func adoptApproval(_ policy: ApprovalPolicy, at now: WallTime) {
        guard environment.isApprovalRequired != (policy == .required) else { return }
        environment.isApprovalRequired = policy == .required
        wake(.awaitingApproval, at: now)
    }
}
