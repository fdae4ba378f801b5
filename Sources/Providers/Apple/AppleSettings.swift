package import HTTP

/// What the operator configures for Sign in with Apple.
package struct AppleSettings: Sendable {
    /// The issuer of id tokens and the audience of client secrets, whatever the base URL is.
    package static let issuer = "https://appleid.apple.com"

    package var http: RemoteSettings
    /// Ten characters, as the key id.
    package let teamID: String
    package let keyID: String
    package let clientIDs: [String]
    /// Where Apple is; another place is for a stand-in.
    package var baseURL = AppleSettings.issuer
}
