package import Lifecycle

/// The body of `POST /v1/requests/{id}/reauthorize`: a fresh sign-in.
///
/// At least one of `idToken` and `code` is there.
package struct ReauthorizeInput: Sendable {
    package var provider: ProviderName
    package var clientID: String?
    package var idToken: Secret?
    package var rawNonce: Secret?
    package var code: Secret?
    package var redirectURI: String?
    package var codeVerifier: Secret?

    package init(provider: ProviderName) {
        self.provider = provider
    }
}
