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

    package static let members: [WireMember<WireUserAction>] = [
        .field("url", \.url, "Where the user can cut the link."),
        .field("text", \.text, "What the user can do."),
        .field("configured", \.isConfigured, "True if the operator wrote the text; else English."),
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

    package static let members: [WireMember<WireIdentity>] = [
        .field("identity_id", \.identityID, "Names the identity."),
        .field("provider", \.provider, "The provider's configured name."),
        .field("client_id", \.clientID, "The client id that the credentials were issued to."),
        .field("verdict", \.verdict, "How its revocation ended."),
        .field("state", \.state, "Whether its credentials can be used."),
        .field("credential_count", \.credentialCount, "How many credentials are stored."),
        .field(
            "subject_first_seen",
            \.isSubjectFirstSeen,
            "Whether a later sign-in pinned the subject."
        ),
        .field("user_action", \.userAction, "What the user can do by hand."),
        .field("not_held", \.unheld, "What the provider may honor and is not held."),
        .field("failed_code", \.failedCode, "The last code, if no credential is left."),
        .field("updated_at", \.updatedAt, "When it last changed."),
    ]
}

/// What a provider may honor of one identity although the service does not hold it.
package struct WireUnheld: WireObject, Codable, Hashable {
    package var lostCodes: Int
    package var refusedCredentials: Int

    package init(lostCodes: Int, refusedCredentials: Int) {
        (self.lostCodes, self.refusedCredentials) = (lostCodes, refusedCredentials)
    }

    package static let members: [WireMember<WireUnheld>] = [
        .field("lost_codes", \.lostCodes, "Codes that were sent, and may have brought tokens."),
        .field("refused_credentials", \.refusedCredentials, "How often a credential was refused."),
    ]
}

/// What became of an authorization code that brought no token.
package enum CodeOutcome: String, Sendable, CaseIterable {
    /// It was too old before an exchange reached the provider.
    case expired
    case refused
    /// It may have been used; a second exchange could revoke what the first one issued.
    case unknown
}

/// The last authorization code of an identity without credentials.
package struct WireFailedCode: WireObject, Codable, Hashable {
    package var createdAt: WallTime
    package var outcome: WireValue<CodeOutcome>
    package var failures: Int
    package var status: Int?
    package var error: String?

    package init(createdAt: WallTime, outcome: CodeOutcome, failures: Int) {
        (self.createdAt, self.outcome, self.failures) = (createdAt, .known(outcome), failures)
    }

    /// What the provider answered last, if no tokens.
    package var answer: Refusal? {
        status == nil && error == nil ? nil : Refusal(status: status, error: error)
    }

    package static let members: [WireMember<WireFailedCode>] = [
        .field("created_at", \.createdAt, "When the application got it."),
        .field("outcome", \.outcome, "Why it brought no token."),
        .field("failures", \.failures, "Attempts of the exchange that failed and were repeated."),
        .field("status", \.status, "The HTTP status of the last answer, if it had no tokens."),
        .field("error", \.error, "The error code of that answer."),
    ]
}

/// What a provider answered to the last call, where that was no success.
package struct WireAnswer: WireObject, Codable, Hashable {
    package var status: Int?
    package var error: String?
    package var words: String?
    package var isNamed: Bool

    package init(_ answer: VendorAnswer) {
        (status, error) = (answer.refusal.status, answer.refusal.error)
        (words, isNamed) = (answer.words, answer.isNamed)
    }

    /// The same for people.
    package var answer: VendorAnswer {
        VendorAnswer(Refusal(status: status, error: error), words: words, isNamed: isNamed)
    }

    enum CodingKeys: String, CodingKey {
        case status, error, words
        case isNamed = "named"
    }

    package static let members: [WireMember<WireAnswer>] = [
        .field("status", \.status, "The HTTP status."),
        .field("error", \.error, "The provider's error code, and a sub-code behind a slash."),
        .field("words", \.words, "Its text, redacted, at most 200 characters; for operators."),
        .field("named", \.isNamed, "Whether `last_error` contains the status and error code."),
    ]
}

/// The answer to a stored credential.
package struct WireStoredCredential: WireObject, Codable, Hashable {
    package var identityID: IdentityID
    package var state: WireValue<CredentialState>

    package init(identityID: IdentityID, state: CredentialState) {
        (self.identityID, self.state) = (identityID, .known(state))
    }

    package static let members: [WireMember<WireStoredCredential>] = [
        .field("identity_id", \.identityID, "The identity that it joined."),
        .field("state", \.state, "Whether it can be used, as far as is known."),
    ]
}
