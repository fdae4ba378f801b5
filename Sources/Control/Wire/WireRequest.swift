package import Lifecycle

/// One request as the API shows it.
package struct WireRequest: WireObject, Codable, Hashable {
    package var id: RequestID
    package var kind: WireValue<RequestKind>
    /// The application's own user id; `erased:…` once a deletion has completed.
    package var userID: String?
    package var state: WireValue<RequestState>
    package var detail: String?
    package var heldBy: [String]?
    package var blockedBy: [String]?
    package var createdAt: WallTime
    package var updatedAt: WallTime
    package var acceptedAt: WallTime?
    package var deadlineAt: WallTime?
    package var nextAt: WallTime?
    package var identities: [WireIdentity] = []
    package var steps: [WireStep] = []
    package var forgotten: [ForgottenIdentity]?
    package var addenda: [WireAddendum]?

    package init(
        id: RequestID,
        kind: RequestKind,
        userID: String,
        state: RequestState,
        createdAt: WallTime
    ) {
        (self.id, self.kind, self.userID, self.state) = (id, .known(kind), userID, .known(state))
        self.createdAt = createdAt
        updatedAt = createdAt
    }

    package static let listMax: Int? = ControlLimits.listLimitMax

    package static let fields: [WireField] = [
        .required("id", .uuid, "Names the request; the spool's `request_id`."),
        .required("kind", .choice(of: RequestKind.self), "The kind of request."),
        .optional(
            "user_id",
            .text,
            "The application's user id, or `erased:…` after the erasure; not for viewers."
        ),
        .required("state", .choice(of: RequestState.self), "Where it stands."),
        .optional("detail", .text, "Why it is parked or rejected."),
        .optional(
            "held_by",
            .list(.text),
            "The holds that stop it: `request` or `user HOLD`, each with `: REASON` if it has one,"
                + " or `target NAME: HOLD`; not in lists."
        ),
        .optional(
            "blocked_by",
            .list(.text),
            "The targets that refuse the purge, and why: `NAME: CODE`."
        ),
        .required("created_at", .time, "When it was made."),
        .required("updated_at", .time, "When it last changed."),
        .optional("accepted_at", .time, "When it was accepted, durably."),
        .optional("deadline_at", .time, "When the statutory clock runs out."),
        .optional(
            "next_at",
            .time,
            "When the service continues it; absent if it waits for an event."
        ),
        .required("identities", .list(.object("Identity")), "The user's identities."),
        .required("steps", .list(.object("Step")), "The steps; empty in lists."),
        .optional(
            "forgotten",
            .list(.object("Forgotten")),
            "Identities that an operator had the service forget; not in lists."
        ),
        .optional(
            "addenda",
            .list(.object("Addendum")),
            "What became known of verdicts after the end; not in lists."
        ),
    ]
}
