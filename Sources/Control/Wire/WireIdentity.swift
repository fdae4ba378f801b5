package import Lifecycle

/// What the user can do by hand, where the service could not.
package struct WireUserAction: WireRecord, Codable, Hashable {
    package var url: String
    package var text: String
    package var isConfigured: Bool?

    package init(url: String, text: String, isConfigured: Bool = false) {
        (self.url, self.text) = (url, text)
        self.isConfigured = isConfigured ? true : nil
    }

    enum CodingKeys: String, CodingKey {
        case url, text
        case isConfigured = "configured"
    }

    package static let members: [WireMember<WireUserAction>] = [
        .required("url", \.url, "Where the user can cut the link."),
        .required("text", \.text, "What the user can do."),
        .optional(
            "configured",
            \.isConfigured,
            "True if the operator wrote the text; else English."
        ),
    ]
}

/// Whether the credentials of an identity can be used, as far as is known.
package enum CredentialState: String, Sendable, CaseIterable {
    /// Sealed; not exchanged or asked about yet.
    case pending
    case live
    case dead
    case unknown
}

/// One identity of a user, never with a secret or the provider's subject.
package struct WireIdentity: WireRecord, Codable, Hashable {
    package var identityID: IdentityID
    package var provider: String
    package var clientID: String?
    package var verdict: WireValue<Verdict>?
    package var state: WireValue<CredentialState>
    package var credentialCount: Int?
    package var isSubjectFirstSeen: Bool?
    package var userAction: WireUserAction?
    package var unheld: WireUnheld?
    package var failedCode: WireFailedCode?
    package var updatedAt: WallTime?

    package init(identityID: IdentityID, provider: String, state: CredentialState) {
        (self.identityID, self.provider, self.state) = (identityID, provider, .known(state))
    }

    enum CodingKeys: String, CodingKey {
        case provider, verdict, state, identityID, clientID, credentialCount, userAction, failedCode
        case updatedAt
        case isSubjectFirstSeen = "subjectFirstSeen"
        case unheld = "notHeld"
    }

    package static let members: [WireMember<WireIdentity>] = [
        .required("identity_id", \.identityID, "Names the identity."),
        .required("provider", \.provider, "The provider's configured name."),
        .optional("client_id", \.clientID, "The client id that the credentials were issued to."),
        .optional("verdict", \.verdict, "How its revocation ended."),
        .required("state", \.state, "Whether its credentials can be used."),
        .optional("credential_count", \.credentialCount, "How many credentials are stored."),
        .optional(
            "subject_first_seen",
            \.isSubjectFirstSeen,
            "Whether a later sign-in pinned the subject."
        ),
        .optional("user_action", \.userAction, "What the user can do by hand."),
        .optional("not_held", \.unheld, "What the provider may honor and is not held."),
        .optional("failed_code", \.failedCode, "The last code, if no credential is left."),
        .optional("updated_at", \.updatedAt, "When it last changed."),
    ]
}
