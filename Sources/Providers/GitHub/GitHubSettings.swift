package import HTTP
package import Lifecycle

/// What the operator configures for an OAuth app or a GitHub App.
package struct GitHubSettings: Sendable {
    /// The REST API.
    package static let apiURL = "https://api.github.com"
    /// Where tokens are issued.
    package static let loginURL = "https://github.com"

    package let clientID: String
    package let clientSecret: Secret
    package var http: RemoteSettings
    /// On GitHub Enterprise Server it ends in `/api/v3`.
    package var apiBaseURL: String
    package var loginBaseURL: String

    package init(name: ProviderName, clientID: String, clientSecret: Secret) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        http = RemoteSettings(name: name)
        apiBaseURL = Self.apiURL
        loginBaseURL = Self.loginURL
    }
}
