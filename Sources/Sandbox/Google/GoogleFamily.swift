import Encoding

/// How the sandbox plays Google.
package struct GoogleConfiguration: Sendable {
    /// The clients that are registered at the start; they share a project.
    package var clients: [ClientRegistration] = {
        var web = ClientRegistration(
            "1234567890-web.apps.googleusercontent.com",
            secret: "google-secret"
        )
        var ios = ClientRegistration("1234567890-ios.apps.googleusercontent.com")
        web.project = "example-project"
        ios.project = "example-project"
        return [web, ios]
    }()

    package init() {}
}

/// Plays Google's `oauth2.googleapis.com`, `accounts.google.com` and `www.googleapis.com`.
///
/// Sources: developers.google.com, "Using OAuth 2.0 for Web Server Applications", "OpenID Connect"
/// and "Protect user accounts with Cross-Account Protection".
final class GoogleFamily: GrantFamily {
    static let issuer = "https://accounts.google.com"
    /// With a slash, unlike the issuer of id tokens: a trap of the original.
    static let riscIssuer = "https://accounts.google.com/"
    /// A refresh token that nobody uses for six months dies.
    static let refreshIdleSeconds: Int64 = 183 * 86_400

    let service: GrantService<BookState>
    /// Codes of its mobile SDKs have one.
    let takesEmptyRedirectURI = true
    let defaultScope = "openid email profile"

    init(_ configuration: GoogleConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        service = try GrantService(.google, tools, configuration.clients, tools.state)
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        switch (method, parts(path)) {
        case ("POST", ["token"]): FamilyRoute(.token, answerToken)
        case ("POST", ["revoke"]): FamilyRoute(.revoke, answerRevoke)
        case ("GET", ["oauth2", "v3", "certs"]): FamilyRoute(.keys, handKeys)
        case ("GET", [".well-known", "openid-configuration"]): document(self.metadata)
        case ("GET", [".well-known", "risc-configuration"]):
            document([
                "issuer": .string(Self.riscIssuer),
                "jwks_uri": .string("\(self.baseURL)/oauth2/v3/certs"),
            ])
        default: nil
        }
    }

    private var metadata: JSONValue {
        [
            "issuer": .string(Self.issuer), "token_endpoint": .string("\(baseURL)/token"),
            "revocation_endpoint": .string("\(baseURL)/revoke"),
            "jwks_uri": .string("\(baseURL)/oauth2/v3/certs"),
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        ]
    }

    /// 21 digits, the same for every project.
    func subject(of key: GrantBook.Key) -> String {
        "1" + TokenDigest.digits(of: "google/\(key.user)", count: 20)
    }

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        TokenRules(
            accessPrefix: "ya29.",
            accessLifetimeSeconds: 3599,
            refreshPrefix: "1//",
            refreshLifetimeSeconds: Self.refreshIdleSeconds
        )
    }

    func idToken(_ order: IDTokenOrder) throws -> String? {
        let clientID = order.ticket.clientID
        return try signingKeys.sign([
            "iss": .string(Self.issuer), "azp": .string(clientID), "aud": .string(clientID),
            "sub": .string(order.subject),
            "email": .string("\(order.subject.prefix(8))@gmail.com"), "email_verified": true,
            "at_hash": JSONValue(order.accessToken.map(TokenDigest.half)),
            "nonce": JSONValue(order.ticket.nonce), "iat": .integer(order.issuedSeconds),
            "exp": .integer(order.issuedSeconds + 3600),
        ])
    }

    /// A RISC event: the subject is inside of the event, and there is no `exp`.
    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification? {
        let (event, subject) = try apply(withdrawal)
        let about: JSONValue =
            switch event {
            case .tokenRevoked:
                [
                    "subject": [
                        "subject_type": "oauth_token", "token_type": "refresh_token",
                        "token_identifier_alg": "prefix",
                        "token": .string(String((withdrawal.order.token ?? "").prefix(16))),
                    ]
                ]
            case .verification: ["state": "sandbox"]
            default:
                [
                    "subject": [
                        "subject_type": "iss-sub", "iss": .string(Self.riscIssuer),
                        "sub": .string(subject),
                    ],
                    "reason": event == .accountDisabled ? "hijacking" : nil,
                ]
            }
        return try signingKeys.securityEvent([
            "iss": .string(Self.riscIssuer), "aud": .string(withdrawal.client.id),
            "iat": .integer(service.clock.nowSeconds), "jti": .string(TokenGenerator.text()),
            "events": .object([.init(event.uri, about)]),
        ])
    }
}

extension GoogleFamily {
    /// A refresh token stays, and its six months begin again.
    func answerToken(_ call: Call) throws(FamilyRefusal) -> Reply {
        let (client, grantType) = try (authenticate(call), call.form["grant_type"])
        let shown = grantType?.prefix(64) ?? ""
        let tokens = try makeTokens(
            call,
            client,
            for: grantType,
            rotate: false,
            missing: { name in
                let isType = name == "grant_type"
                let text = isType ? "Required parameter is missing" : "Missing required parameter"
                return .oauth("invalid_request", "\(text): \(name)")
            },
            unsupported: .oauth("unsupported_grant_type", "Invalid grant_type: \(shown)"),
            refusing: { failure, _ in
                var error = "invalid_grant"
                if case .redirect = failure { error = "redirect_uri_mismatch" }
                return .oauth(error, "Bad Request")
            },
            renewing: { text, state, now throws(FamilyRefusal) in
                guard let token = state.book.live(text, .refresh, now: now) else {
                    throw .oauth("invalid_grant", "Token has been expired or revoked.")
                }
                // The token of another client: the client is refused, not the token.
                guard token.ticket.clientID == client.id else {
                    throw .oauth("unauthorized_client", "Unauthorized", status: 401)
                }
                state.book.extend(TokenDigest(text), until: now + Self.refreshIdleSeconds)
                return token.ticket
            }
        )
        return try answer(tokens)
    }

    /// By form or Basic; clients of mobile applications have no secret.
    private func authenticate(_ call: Call) throws(FamilyRefusal) -> RegisteredClient {
        let form = call.form
        let basic = BasicCredentials(call.authorization)
        guard let client = clients[basic?.name ?? form["client_id"]] else {
            throw .oauth("invalid_client", "The OAuth client was not found.", status: 401)
        }
        guard client.secret == nil || client.has(secret: basic?.password ?? form["client_secret"])
        else { throw .oauth("invalid_client", "Unauthorized", status: 401) }
        return client
    }

    /// Nobody proves who calls: the token is enough.
    ///
    /// It takes the whole project's grant along. Not idempotent, unlike RFC 7009: an unknown,
    /// expired or revoked token is an error.
    func answerRevoke(_ call: Call) throws(FamilyRefusal) -> Reply {
        guard let text = call.query["token"] ?? call.form["token"] else {
            throw .oauth("invalid_request", "Missing required parameter: token")
        }
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, now: now) else {
                throw .oauth("invalid_token", "Token expired or revoked")
            }
            state.book.cut(token.ticket.grant)
            return (.json([:]), .revoked)
        }
    }
}
