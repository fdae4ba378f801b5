/// What only `kind = "facebook"` has.
package struct FacebookProviderConfiguration: Hashable, Sendable {
    /// The Graph API.
    package static let defaultBaseURL = "https://graph.facebook.com"
    /// Limited Login's metadata and keys ("OIDC Token for Limited Login").
    package static let defaultLimitedURL = "https://limited.facebook.com"
    /// Limited Login's uninstall endpoint.
    package static let defaultUninstallURL = "https://www.limited.facebook.com"
    /// The version that the reference of the Graph API showed last.
    package static let defaultGraphVersion = "v25.0"

    package let clientSecretCredential: String
    package let graphVersion: String
    package let baseURL: String
    package let limitedURL: String
    package let uninstallURL: String
}
