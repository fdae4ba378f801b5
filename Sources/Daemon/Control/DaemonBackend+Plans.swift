import Control
import Engine
import Lifecycle
import Settings
import Storage
import Stores

extension DaemonBackend {
    /// The cutoff of a dry run is now: as if the request were made at this moment.
    func makePlan(for user: UserID, caller: Caller) async throws(ControlProblem) -> WirePlan {
        let userHash = hash(user)
        let known = try await attempt("plan") { try await parts.state.identities(userHash) }
        let adapters = parts.registry.current
        let order = PlanOrder(
            order: PurgeOrder(
                request: parts.generator.requestID(),
                user: user,
                cutoff: parts.now()
            ),
            userHash: userHash,
            links: known.map {
                PurgePlan.Link(identity: $0.id, provider: $0.provider, clientID: $0.clientID)
            },
            sources: adapters.configuration.targets.map { .asked($0.name) }
        )
        switch await adapters.forEngine.planner(parts.hasher).make(order) {
        case .made(let plan):
            audit("plan", caller)
            return WirePlan(plan, state: .notRequired)
        case .failure(let target, let failure): throw Self.planFailed(target, failure)
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
    func compare(_ hash: String, of record: RequestRecord) async throws(ControlProblem) {
        let request = record.request
        guard let user = record.user, let approval = request.approval, !approval.isGiven,
            let shown = approval.plan, shown.hash == hash, request.purgeStartedAt == nil
        else { return }
        // A target on hold may have no part in it.
        let names = Set(shown.parts.map(\.target))
        let order = PlanOrder(
            order: PurgeOrder(request: request.id, user: user, cutoff: request.cutoff),
            userHash: record.userHash,
            links: request.links,
            sources: request.purges.map(\.target).filter(names.contains).map { .asked($0) }
        )
        let made = await parts.registry.current.forEngine.planner(parts.hasher).make(order)
        guard case .made(let plan) = made, plan.hash != hash else { return }
        _ = try await attempt("approve") { try await parts.engine.operate(request.id, .retry) }
        throw Self.planChanged(to: plan)
    }

    /// Waiting helps where the store does not answer, and nowhere else.
    private static func planFailed(_ target: TargetName, _ failure: EffectFailure) -> ControlProblem
    {
        switch failure {
        case .unreachable, .throttled, .lost:
            return ControlProblem(
                .unavailable,
                "target '\(target)' cannot be asked now: \(failure.code)",
                retryAfter: RetryPolicy.caller.first
            )
        case .unusable, .rejected, .refused, .refusesAll, .misconfigured, .sealBroken,
            .notConfigured, .vaultSealed, .keys, .blocked:
            let cause = failure.obstacle.map { "\(failure.code): \($0.text)" } ?? failure.reason
            return ControlProblem(.planRefused, "target '\(target)': \(cause)")
        }
    }

    static func planChanged(to plan: PurgePlan?) -> ControlProblem {
        guard let plan else { return ControlProblem(.planChanged) }
        return ControlProblem(
            .planChanged,
            "the hash of the plan is \(plan.hash): it changed since, or another was given"
        )
    }

    func approver(_ caller: Caller) throws(ControlProblem) -> UInt32 {
        guard let uid = caller.operatorUID else {
            throw ControlProblem(
                .operatorUnknown,
                "/proc hides who logged in; install the drop-in expunged-approval.conf"
            )
        }
        return uid
    }
}
