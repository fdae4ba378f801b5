/// What only `kind = "x"` has.
package struct XProviderConfiguration: Hashable, Sendable {
    /// The API's host.
    package static let defaultBaseURL = "https://api.x.com"

    /// How users sign in; the value of `authorization`.
    package enum Authorization: String, Sendable, CaseIterable {
        case oauth2
        case oauth1 = "oauth1a"
    }

    package let authorization: Authorization
    /// Always there for OAuth 1.0a.
    package let clientSecretCredential: String?
    package let baseURL: String
}
