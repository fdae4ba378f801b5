package import Lifecycle

extension EngineCore {
    mutating func fillPlans(at now: WallTime) {
        while let id = plans.next() {
            guard let run = window[id], mayPerform(run) else {
                plans.finished()
                apply(.postponed(.plan, until: now), to: id, at: now)
                continue
            }
            let request = run.loaded.request
            beginCall(of: id)
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
        apply(.planned(result), to: id, at: now)
    }

    /// Once after the start: what waits for an approval that is no longer asked for goes on.
    package mutating func releaseUnapproved(at now: WallTime) {
        if !environment.isApprovalRequired { wake(.awaitingApproval, at: now) }
    }

    /// Without the policy requests go on; with it those in the window stop before the next step.
    mutating func adoptApproval(_ policy: ApprovalPolicy, at now: WallTime) {
        guard environment.isApprovalRequired != (policy == .required) else { return }
        environment.isApprovalRequired = policy == .required
        wake(.awaitingApproval, at: now)
    }
}
