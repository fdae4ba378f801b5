package import Lifecycle

/// The body of `PUT /v1/users/{user_id}/identities/{provider}`: one credential to seal.
package struct CredentialInput: Sendable {
    package var kind: CredentialKind
    package var secret: Secret
    package var clientID: String?
    package var subject: String?
    package var redirectURI: String?
    package var codeVerifier: Secret?
    package var rawNonce: Secret?

    package init(kind: CredentialKind, secret: Secret) { (self.kind, self.secret) = (kind, secret) }
}
