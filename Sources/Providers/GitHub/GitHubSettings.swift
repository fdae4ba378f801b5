package import HTTP
package import Lifecycle

/// What the operator configures for an OAuth app or a GitHub App.
package struct GitHubSettings: Sendable {
    package static let apiURL = "https://api.github.com"
    package static let loginURL = "https://github.com"

    package let clientID: String
    package let clientSecret: Secret
    package var http: RemoteSettings
    /// On GitHub Enterprise Server it ends in `/api/v3`.
    package var apiBaseURL = GitHubSettings.apiURL
    package var loginBaseURL = GitHubSettings.loginURL

    package init(name: ProviderName, clientID: String, clientSecret: Secret) {
        (self.clientID, self.clientSecret) = (clientID, clientSecret)
        http = RemoteSettings(name: name)
    }
}
