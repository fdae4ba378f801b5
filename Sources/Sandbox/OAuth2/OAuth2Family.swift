import Encoding

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
    /// Opens the admin API.
    package var adminToken = "admin-token"

    package init() {}
}

/// Plays an OAuth 2 server by the book: RFC 6749, 7009, 7636, 7662, 8414 and OpenID Connect.
final class OAuth2Family: GrantFamily {
    struct State: GrantState {
        var book: GrantBook
        /// The `jti` of assertions, which may come once only.
        var assertions: BoundedTable<TokenDigest, Bool>
    }

    let service: GrantService<State>
    let configuration: OAuth2Configuration
    let defaultScope = "openid offline_access"

    init(_ configuration: OAuth2Configuration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        service = try GrantService(
            .oauth2,
            tools,
            configuration.clients,
            State(book: tools.book, assertions: BoundedTable(capacity: tools.capacity))
        )
    }

    var issuer: String { baseURL }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        // RFC 8414 §3.1 puts the issuer's path last, OpenID Connect Discovery 1.0 §4 first.
        if method == "GET", path == "/.well-known/oauth-authorization-server/\(name)" {
            return document(self.metadata)
        }
        let parts = parts(path)
        return switch (method, parts) {
        case ("GET", [".well-known", "openid-configuration"]): document(self.metadata)
        case ("GET", ["authorize"]): FamilyRoute(.token, answerAuthorize)
        case ("POST", ["token"]): FamilyRoute(.token, answerToken)
        case ("POST", ["revoke"]): FamilyRoute(.revoke, answerRevoke)
        case ("POST", ["introspect"]): FamilyRoute(.check, answerIntrospect)
        case ("GET", ["jwks"]): FamilyRoute(.keys, handKeys)
        default: parts.flatMap { adminRoute(method, $0) }
        }
    }

    func subject(of key: GrantBook.Key) -> String {
        String(TokenDigest.hexadecimal("oauth2/\(key.user)").prefix(24))
    }

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        TokenRules(accessPrefix: "at_", accessLifetimeSeconds: 3600, refreshPrefix: "rt_")
    }

    func idToken(_ order: IDTokenOrder) throws -> String? {
        guard order.ticket.has(scope: "openid") else { return nil }
        let issued = order.issuedSeconds
        return try signingKeys.sign([
            "iss": .string(issuer), "sub": .string(order.subject),
            "aud": .string(order.ticket.clientID), "iat": .integer(issued),
            "exp": .integer(issued + 3600), "auth_time": .integer(issued),
            "nonce": JSONValue(order.ticket.nonce),
            "at_hash": JSONValue(order.accessToken.map(TokenDigest.half)),
        ])
    }

    /// A token of OpenID's Shared Signals Framework 1.0: `sub_id`, neither `sub` nor `exp`.
    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification? {
        let (event, subject) = try apply(withdrawal)
        let now = service.clock.nowSeconds
        return try signingKeys.securityEvent([
            "iss": .string(issuer), "aud": .string(withdrawal.client.id), "iat": .integer(now),
            "jti": .string(TokenGenerator.text()),
            "sub_id": ["format": "iss_sub", "iss": .string(issuer), "sub": .string(subject)],
            "events": .object([.init(event.uri, ["event_timestamp": .integer(now)])]),
        ])
    }

    private var metadata: JSONValue {
        let methods = JSONValue.array(ClientAuthentication.allCases.map { .string($0.rawValue) })
        let algorithms: JSONValue = ["HS256", "RS256", "PS256", "ES256"]
        return [
            "issuer": .string(issuer),
            "authorization_endpoint": .string("\(issuer)/authorize"),
            "token_endpoint": .string("\(issuer)/token"),
            "jwks_uri": .string("\(issuer)/jwks"),
            "revocation_endpoint": .string("\(issuer)/revoke"),
            "introspection_endpoint": .string("\(issuer)/introspect"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": methods,
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
            "introspection_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
        ]
    }
}
