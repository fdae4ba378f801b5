/// How the sandbox plays a generic OAuth 2 server.
package struct OAuth2Configuration: Sendable {
    /// What happens to a refresh token that is used.
    package enum Rotation: String, CaseIterable, Sendable {
        /// It stays, and no new one is given.
        case off
        /// A new one replaces it.
        case rotate
        /// As `rotate`, and the old one's use ends the whole sign-in (RFC 9700 §4.14.2).
        case detectReuse = "detect-reuse"
    }

    /// What else ends when a token is revoked (RFC 7009 §2.1 leaves it open).
    package enum Reach: String, CaseIterable, Sendable {
        /// That token alone.
        case token
        /// A refresh token takes the other tokens of its sign-in along; an access token none.
        case signIn = "sign-in"
        /// The user's whole authorization of the client.
        case grant
    }

    /// What a revoke of an unknown or dead token answers.
    package enum UnknownToken: String, CaseIterable, Sendable {
        /// 200, as RFC 7009 §2.2 asks.
        case ok
        /// 200 with `{"error":"invalid_token"}` in the body, as Keycloak does.
        case errorInBody = "error-in-body"
        /// 400 `invalid_token`, as Twitch, Zoho and others do.
        case refused
    }

    package var clients = [ClientRegistration("app", secret: "app-secret")]
    package var rotation = Rotation.rotate
    package var reach = Reach.signIn
    package var unknownToken = UnknownToken.ok
    /// Whether access tokens can be revoked; `unsupported_token_type` otherwise.
    package var revokesAccessTokens = true
    package var accessLifetimeSeconds: Int64 = 3600

    package init() {}
}
