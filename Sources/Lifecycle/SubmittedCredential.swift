/// A credential as an application submits it, over HTTP and in a spool.
package struct SubmittedCredential: Sendable {
    package let kind: CredentialKind
    package let secret: Secret
    package var clientID: String?
    /// The provider's own name for the user: personal, hence a ``Secret``.
    package var subject: Secret?
    /// Of the authorize request; empty if it had none.
    package var redirectURI: String?
    package var codeVerifier: Secret?
    package var rawNonce: Secret?

    package init(kind: CredentialKind, secret: Secret) { (self.kind, self.secret) = (kind, secret) }
}
