package import HTTP
package import Lifecycle

/// What the operator configures for X.
package struct XSettings: Sendable {
    /// How the application signs its users in.
    package enum Authorization: Sendable {
        /// OAuth 2.0; a public client has no secret.
        case oauth2(clientSecret: Secret?)
        /// OAuth 1.0a; the client id is the consumer key.
        case oauth1(consumerSecret: Secret)
    }

    package static let apiURL = "https://api.x.com"

    package var http: RemoteSettings
    package let clientID: String
    package let authorization: Authorization
    package var baseURL = XSettings.apiURL
}
