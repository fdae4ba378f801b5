package import Lifecycle

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

    package static let fields: [WireField] = [
        .required("at", .time, "When the service recorded it."),
        .required("identity_id", .uuid, "The identity that it is about."),
        .required("provider", .text, "The provider's configured name."),
        .required(
            "verdict",
            .choice(of: Verdict.self),
            "What the verdict would be with this knowledge."
        ),
        .required("event", .text, "The provider's notification, or `credential_refused`."),
        .required("occurred_at", .time, "When it happened, as the provider says."),
        .required("evidence", .text, "What happened, and who said so."),
    ]
}
