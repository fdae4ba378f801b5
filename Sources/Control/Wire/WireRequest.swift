package import Lifecycle

/// One request as the API shows it.
package struct WireRequest: WireObject, Codable, Hashable {
    package var id: RequestID
    package var kind: WireValue<RequestKind>
    /// The application's own user id; `erased:…` once a deletion has completed.
    package var userID: String?
    package var state: WireValue<RequestState>
    package var detail: String?
    package var heldBy: [WireRequestHold]?
    package var blockedBy: [WireBlock]?
    package var createdAt: WallTime
    package var updatedAt: WallTime
    package var acceptedAt: WallTime?
    package var deadlineAt: WallTime?
    package var nextAt: WallTime?
    package var identities: [WireIdentity] = []
    package var steps: [WireStep] = []
    package var unreadSources: [String]?
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

    enum CodingKeys: String, CodingKey {
        case id, kind, userID, state, detail, heldBy, blockedBy, createdAt, updatedAt, acceptedAt
        case deadlineAt, nextAt, identities, steps, unreadSources, forgotten, addenda
    }

    package static let listMax: Int? = ControlLimits.listLimitMax

    package static let members: [WireMember<WireRequest>] = [
        .field("id", \.id, "Names the request; the spool's `request_id`."),
        .field("kind", \.kind, "The kind of request."),
        .field(
            "user_id",
            \.userID,
            "The application's user id, or `erased:…` after the erasure; not for viewers."
        ),
        .field("state", \.state, "Where it stands."),
        .field("detail", \.detail, "Why it is parked or rejected."),
        .field("held_by", \.heldBy, "The holds that stop it; not in lists or for viewers."),
        .field("blocked_by", \.blockedBy, "The stores that refuse the purge."),
        .field("created_at", \.createdAt, "When it was made."),
        .field("updated_at", \.updatedAt, "When it last changed."),
        .field("accepted_at", \.acceptedAt, "When it was accepted, durably."),
        .field("deadline_at", \.deadlineAt, "When the statutory clock runs out."),
        .field(
            "next_at",
            \.nextAt,
            "When the service continues it; absent if it waits for an event."
        ),
        .field("identities", \.identities, "The user's identities."),
        .field("steps", \.steps, "The steps; empty in lists."),
        .field(
            "unread_sources",
            \.unreadSources,
            "What could not be read since its acceptance and may hold a credential of the user."
        ),
        .field(
            "forgotten",
            \.forgotten,
            "Identities that an operator had the service forget; not in lists."
        ),
        .field("addenda", \.addenda, "What became known of verdicts after the end; not in lists."),
    ]
}

extension ForgottenIdentity: WireObject {
    package static let schemaName = "Forgotten"
    package static let members: [WireMember<ForgottenIdentity>] = [
        .field("provider", \.provider, "The provider's configured name."),
        .field("at", \.at, "When."),
        .field("uid", \.uid, "The operator's uid."),
    ]
}

/// What became known of a verdict after the request was completed.
package struct WireAddendum: WireObject, Codable, Hashable {
    package var at: WallTime
    package var identityID: IdentityID
    package var provider: String
    package var verdict: WireValue<Verdict>
    package var event: String
    package var occurredAt: WallTime
    package var evidence: String

    package init(
        at: WallTime,
        identityID: IdentityID,
        provider: String,
        verdict: Verdict,
        event: String,
        occurredAt: WallTime,
        evidence: String
    ) {
        (self.at, self.identityID, self.provider) = (at, identityID, provider)
        self.verdict = .known(verdict)
        (self.event, self.occurredAt, self.evidence) = (event, occurredAt, evidence)
    }

    package static let members: [WireMember<WireAddendum>] = [
        .field("at", \.at, "When the service recorded it."),
        .field("identity_id", \.identityID, "The identity that it is about."),
        .field("provider", \.provider, "The provider's configured name."),
        .field("verdict", \.verdict, "What the verdict would be with this knowledge."),
        .field("event", \.event, "The provider's notification, or `credential_refused`."),
        .field("occurred_at", \.occurredAt, "When it happened, as the provider says."),
        .field("evidence", \.evidence, "What happened, and who said so."),
    ]
}
