package import Lifecycle

/// What the user can do by hand, where the service could not.
package struct WireUserAction: WireObject, Codable, Hashable {
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

    package static let fields: [WireField] = [
        .required("url", .text, "Where the user can cut the link."),
        .required("text", .text, "What the user can do."),
        .optional("configured", .boolean, "True if the operator wrote the text; else English."),
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
package struct WireIdentity: WireObject, Codable, Hashable {
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

    package static let fields: [WireField] = [
        .required("identity_id", .uuid, "Names the identity."),
        .required("provider", .text, "The provider's configured name."),
        .optional("client_id", .text, "The client id that the credentials were issued to."),
        .optional("verdict", .choice(of: Verdict.self), "How its revocation ended."),
        .required(
            "state",
            .choice(of: CredentialState.self),
            "Whether its credentials can be used."
        ),
        .optional("credential_count", .integer, "How many credentials are stored."),
        .optional("subject_first_seen", .boolean, "Whether a later sign-in pinned the subject."),
        .optional("user_action", .object("UserAction"), "What the user can do by hand."),
        .optional("not_held", .object("Unheld"), "What the provider may honor and is not held."),
        .optional("failed_code", .object("FailedCode"), "The last code, if no credential is left."),
        .optional("updated_at", .time, "When it last changed."),
    ]
}
