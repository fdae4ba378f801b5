/// How a client proves who it is (OpenID Connect Core 1.0 §9).
package enum ClientAuthentication: String, CaseIterable, Codable, Sendable {
    /// HTTP Basic; what OAuth assumes when nothing is said (RFC 8414 §2).
    case basic = "client_secret_basic"
    case post = "client_secret_post"
    case secretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
    /// A public client, which proves nothing.
    case none
}

/// A client that is registered with one of the families.
package struct ClientRegistration: Codable, Sendable {
    /// GitHub's two kinds of applications.
    package enum Kind: String, CaseIterable, Codable, Sendable {
        /// Tokens `gho_` without end.
        case oauthApp = "oauth_app"
        /// Tokens `ghu_` for 8 hours and `ghr_` that rotate.
        case gitHubApp = "github_app"
    }

    package var clientID: String
    /// The client secret; webhooks and signed requests are signed with it too.
    package var clientSecret: String?
    /// How the client must prove itself; by its key, by Basic with its secret, or not at all if
    /// `nil`, by what it has.
    package var authentication: ClientAuthentication?
    /// OAuth 2: the public or private key of `private_key_jwt`, PEM.
    package var keyPEM: String?
    /// Microsoft: the certificate of client assertions, PEM.
    package var certificatePEM: String?
    /// Google: the project; clients of one project share their users' grants.
    package var project: String?
    /// GitHub: which kind; an OAuth app if `nil`.
    package var kind: Kind?
    /// Facebook: whether every call needs `appsecret_proof`.
    package var requiresProof: Bool?

    package init(_ clientID: String, secret: String? = nil) {
        self.clientID = clientID
        clientSecret = secret
    }

    private enum CodingKeys: String, CodingKey {
        case clientID, clientSecret, authentication, project, kind, requiresProof
        case keyPEM = "keyPem"
        case certificatePEM = "certificatePem"
    }
}
