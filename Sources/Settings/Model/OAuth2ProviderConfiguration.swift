/// What only `kind = "oauth2"` has.
///
/// At least one of `issuer` and `revocationURL` is there.
package struct OAuth2ProviderConfiguration: Hashable, Sendable {
    package let issuer: String?
    package let revocationURL: String?
    package let introspectionURL: String?
    package let tokenURL: String?
    /// `nil`: a public client.
    package let clientSecretCredential: String?
    package let clientAuthentication: ClientAuthentication
}

/// How a client shows its secret; names as registered for RFC 8414
/// `token_endpoint_auth_methods_supported`.
package enum ClientAuthentication: String, Sendable, CaseIterable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
}
