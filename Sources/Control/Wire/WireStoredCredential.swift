package import Lifecycle

/// The answer to a stored credential.
package struct WireStoredCredential: WireObject, Codable, Hashable {
    package var identityID: IdentityID
    package var state: WireValue<CredentialState>

    package init(identityID: IdentityID, state: CredentialState) {
        (self.identityID, self.state) = (identityID, .known(state))
    }

    package static let fields: [WireField] = [
        .required("identity_id", .uuid, "The identity that it joined."),
        .required(
            "state",
            .choice(of: CredentialState.self),
            "Whether it can be used, as far as is known."
        ),
    ]
}
