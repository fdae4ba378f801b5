/// What only `kind = "github"` has.
package struct GitHubProviderConfiguration: Hashable, Sendable {
    /// The REST API of github.com.
    package static let defaultBaseURL = "https://api.github.com"
    /// Where github.com issues tokens.
    package static let defaultLoginURL = "https://github.com"

    package let clientSecretCredential: String
    package let baseURL: String
    package let loginURL: String
}
