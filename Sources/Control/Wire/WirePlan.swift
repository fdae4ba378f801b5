package import Lifecycle

/// Where a plan stands with its approval.
package enum PlanState: String, Sendable, CaseIterable {
    /// Nobody has to approve it.
    case notRequired = "not_required"
    case awaitingApproval = "awaiting_approval"
    case approved
}

/// What deleting one account would do, everywhere.
package struct WirePlan: WireObject, Codable, Hashable {
    package var hash: String
    package var state: WireValue<PlanState>
    package var requestID: RequestID?
    package var approvedAt: WallTime?
    package var approvedBy: Int?
    package var approvalsRequired: Int?
    package var firstApprovedBy: Int?
    package var identities: [WirePlanIdentity] = []
    package var targets: [WirePlanTarget] = []
    package var changes: [WirePlanChange] = []

    package init(_ plan: PurgePlan, state: PlanState) {
        (hash, self.state) = (plan.hash, .known(state))
        identities = plan.links.map(WirePlanIdentity.init)
        targets = plan.parts.map(WirePlanTarget.init)
    }

    package static let fields: [WireField] = [
        .required("hash", .text, "Stands for the whole plan; `approve` takes it."),
        .required("state", .choice(of: PlanState.self), "Whether it is approved, or has to be."),
        .optional("request_id", .uuid, "The request that it is the plan of; not in a dry run."),
        .optional("approved_at", .time, "When it was approved."),
        .optional("approved_by", .integer, "The login uid of who approved it."),
        .optional(
            "approvals_required",
            .integer,
            "How many operators must approve: 2 if the submitter is unknown."
        ),
        .optional("first_approved_by", .integer, "The login uid of the first of two."),
        .required("identities", .list(.object("PlanIdentity")), "What would be revoked."),
        .required(
            "targets",
            .atMost(ControlLimits.targetsMax, .object("PlanTarget")),
            "What would be erased, in order."
        ),
        .required(
            "changes",
            .list(.object("PlanChange")),
            "What differs from the plan that was approved, or shown, before."
        ),
    ]
}
