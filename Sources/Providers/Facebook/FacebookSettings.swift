package import HTTP
package import Lifecycle

/// What the operator configures for Facebook Login.
package struct FacebookSettings: Sendable {
    package static let graphURL = "https://graph.facebook.com"
    /// Where Limited Login publishes its metadata and keys.
    package static let limitedURL = "https://limited.facebook.com"
    /// Where Limited Login users are uninstalled.
    package static let uninstallURL = "https://www.limited.facebook.com"
    /// The version that Meta's reference showed last.
    package static let graphVersion = "v25.0"

    package var http: RemoteSettings
    /// The client id of everything here.
    package let appID: String
    package let appSecret: Secret
    /// Such as `v25.0`.
    package var version = FacebookSettings.graphVersion
    package var graphBaseURL = FacebookSettings.graphURL
    package var limitedBaseURL = FacebookSettings.limitedURL
    package var uninstallBaseURL = FacebookSettings.uninstallURL
}
