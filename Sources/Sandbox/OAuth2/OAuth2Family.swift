/// Plays an OAuth 2 server by the book: RFC 6749, 7009, 7636, 7662, 8414 and OpenID Connect.
final class OAuth2Family: GrantFamily {
    struct State: GrantState {
        var book: GrantBook
        /// The `jti` of assertions, which may come once only.
        var assertions: BoundedTable<TokenDigest, Bool>
    }

    let name = "oauth2"
    let service: GrantService<State>
    let clients: ClientRegistry
    let signingKeys = SigningKeys(family: "oauth2")
    let configuration: OAuth2Configuration
    /// RFC 6749 §4.1.2 recommends ten minutes at most.
    let codeLifetimeSeconds: Int64 = 600
    let defaultScope = "openid offline_access"

    init(_ configuration: OAuth2Configuration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        clients = try ClientRegistry(configuration.clients)
        service = GrantService(
            tools,
            state: State(
                book: GrantBook(capacity: tools.capacity),
                assertions: BoundedTable(capacity: tools.capacity)
            )
        )
    }

    var issuer: String { baseURL }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        // RFC 8414 §3.1 puts the issuer's path last, OpenID Connect Discovery 1.0 §4 first.
        if method == "GET", path == "/.well-known/oauth-authorization-server/\(name)" {
            return document(self.metadata)
        }
        return switch (method, parts(path)) {
        case ("GET", [".well-known", "openid-configuration"]): document(self.metadata)
        case ("GET", ["authorize"]): FamilyRoute(.token, answerAuthorize)
        case ("POST", ["token"]): FamilyRoute(.token, answerToken)
        case ("POST", ["revoke"]): FamilyRoute(.revoke, answerRevoke)
        case ("POST", ["introspect"]): FamilyRoute(.check, answerIntrospect)
        case ("GET", ["jwks"]): FamilyRoute(.keys, handKeys)
        default: nil
        }
    }

    func note(_ call: ProviderCall) -> CallNote {
        let form = call.form
        return CallNote(
            name,
            call,
            grantType: form["grant_type"],
            clientID: form["client_id"] ?? BasicCredentials(call.authorization)?.name
                ?? ClientAssertion(form)?.clientID,
            token: form["token"] ?? form["code"] ?? form["refresh_token"]
        )
    }

    func grantKey(user: String, client: RegisteredClient, realm: String?) -> GrantBook.Key {
        GrantBook.Key(user: user, audience: client.id)
    }

    func subject(of key: GrantBook.Key) -> String {
        String(TokenDigest.hexadecimal("oauth2/\(key.user)").prefix(24))
    }

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        TokenRules(
            accessPrefix: "at_",
            accessLifetimeSeconds: configuration.accessLifetimeSeconds,
            refreshPrefix: "rt_",
            refreshLifetimeSeconds: nil
        )
    }

    func idToken(
        _ ticket: GrantBook.Ticket,
        subject: String,
        accessToken: String?,
        issuedSeconds: Int64
    ) throws -> String? {
        guard ticket.scope.split(separator: " ").contains("openid") else { return nil }
        return try signingKeys.sign([
            "iss": .text(issuer), "sub": .text(subject), "aud": .text(ticket.clientID),
            "iat": .integer(issuedSeconds), "exp": .integer(issuedSeconds + 3600),
            "auth_time": .integer(issuedSeconds), "nonce": .optional(ticket.nonce),
            "at_hash": .optional(accessToken.map { TokenDigest.half($0) }),
        ])
    }

    /// A token of OpenID's Shared Signals Framework 1.0: `sub_id`, neither `sub` nor `exp`.
    func happen(
        _ order: SandboxOrder.Withdrawal,
        to key: GrantBook.Key,
        client: RegisteredClient
    ) throws -> SandboxNotification? {
        let event = try SecurityEvent.named(order.event)
        let subject = try service.change { state throws(SandboxError) in
            if event.cutsGrant {
                state.book.cut(key)
            }
            if event == .tokenRevoked, let token = order.token {
                state.book.kill(TokenDigest(token))
            }
            return state.book.grants[key]?.subject ?? ""
        }
        let now = service.clock.nowMilliseconds
        let token = try signingKeys.sign(
            [
                "iss": .text(issuer), "aud": .text(client.id), "iat": .integer(now / 1000),
                "jti": .text(TokenGenerator.text()),
                "sub_id": [
                    "format": "iss_sub", "iss": .text(issuer), "sub": .text(subject),
                ],
                "events": .object([
                    JSON.Member(
                        name: event.uri,
                        value: ["event_timestamp": .integer(now / 1000)]
                    )
                ]),
            ],
            type: "secevent+jwt"
        )
        return SandboxNotification(contentType: "application/secevent+jwt", body: token)
    }

    private var metadata: JSON {
        let methods = JSON.list(ClientAuthentication.allCases.map { .text($0.rawValue) })
        let algorithms: JSON = ["HS256", "RS256", "PS256", "ES256"]
        return [
            "issuer": .text(issuer),
            "authorization_endpoint": .text("\(issuer)/authorize"),
            "token_endpoint": .text("\(issuer)/token"),
            "jwks_uri": .text("\(issuer)/jwks"),
            "revocation_endpoint": .text("\(issuer)/revoke"),
            "introspection_endpoint": .text("\(issuer)/introspect"),
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
