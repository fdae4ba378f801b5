package import Lifecycle

/// What became known of a verdict after the request was completed.
package struct WireAddendum: WireRecord, Codable, Hashable {
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
        .required("at", \.at, "When the service recorded it."),
        .required("identity_id", \.identityID, "The identity that it is about."),
        .required("provider", \.provider, "The provider's configured name."),
        .required("verdict", \.verdict, "What the verdict would be with this knowledge."),
        .required("event", \.event, "The provider's notification, or `credential_refused`."),
        .required("occurred_at", \.occurredAt, "When it happened, as the provider says."),
        .required("evidence", \.evidence, "What happened, and who said so."),
    ]
}
