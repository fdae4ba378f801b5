package import HTTP
package import Lifecycle

/// What the operator configures for an OAuth app or a GitHub App.
package struct GitHubSettings: Sendable {
    package static let apiURL = "https://api.github.com"
    package static let loginURL = "https://github.com"

    package var http: RemoteSettings
    package let clientID: String
    package let clientSecret: Secret
    /// On GitHub Enterprise Server it ends in `/api/v3`.
    package var apiBaseURL = GitHubSettings.apiURL
    package var loginBaseURL = GitHubSettings.loginURL
}
