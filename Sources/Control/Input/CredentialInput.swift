package import Lifecycle

/// The body of `PUT /v1/users/{user_id}/identities/{provider}`: one credential to seal.
package struct CredentialInput: Sendable {
    package var kind: CredentialKind
    /// The credential itself, 1 to 8192 bytes.
    package var secret: Secret
    /// Required when the provider has several.
    package var clientID: String?
    package var subject: String?
    package var redirectURI: String?
    package var codeVerifier: Secret?
    package var rawNonce: Secret?

    package init(kind: CredentialKind, secret: Secret) {
        self.kind = kind
        self.secret = secret
    }
}
