import Encoding
import FoundationEssentials

/// `POST /{tenant}/oauth2/v2.0/token`.
extension MicrosoftFamily {
    func answerToken(_ call: Call, _ tenant: String) throws(FamilyRefusal) -> Reply {
        if !["common", "organizations", "consumers", MicrosoftIDs.personalTenant].contains(tenant) {
            _ = try self.tenant(tenant)
        }
        guard let grantType = call.form["grant_type"] else { throw Self.missing("grant_type") }
        let client = try authenticate(call, tenant)
        if grantType == "client_credentials" { return try answerForItself(call, client, tenant) }
        let tokens = try makeTokens(
            call,
            client,
            for: grantType,
            missing: Self.missing,
            unsupported: .entra(70_003),
            checking: { ticket, state throws(FamilyRefusal) in
                guard covers(tenant, ticket, in: state) else { throw .entra(700_005) }
            },
            refusing: { failure, _ in Self.refusal(of: failure) },
            // A use gives a new refresh token, and the old one lives on: a trap of the original.
            renewing: { text, state, now throws(FamilyRefusal) in
                let digest = TokenDigest(text)
                guard let token = state.book.token(digest), token.kind == .refresh,
                    token.ticket.clientID == client.id, covers(tenant, token.ticket, in: state)
                else { throw .entra(9_002_313) }
                if let refusal = state.refusal(of: token, now: now) { throw refusal }
                state.book.extend(digest, until: now + Self.refreshIdleSeconds)
                return token.ticket
            }
        )
        let idToken = try idToken(tokens)
        return .json([
            "token_type": "Bearer", "scope": .string(tokens.ticket.scope), "expires_in": 3599,
            "ext_expires_in": 3599, "access_token": .string(tokens.access),
            "refresh_token": JSONValue(tokens.refresh), "id_token": JSONValue(idToken),
        ])
    }

    private static func missing(_ name: String) -> FamilyRefusal { .entra(900_144, name) }

    private static func refusal(of failure: GrantBook.CodeFailure) -> FamilyRefusal {
        switch failure {
        case .used: .entra(54_005)
        case .expired: .entra(70_008)
        case .redirect: .entra(500_112)
        case .verifier: .entra(501_481)
        case .unknown, .foreign: .entra(9_002_313)
        }
    }

    /// A token of the client for Graph, where an administrator of the tenant consented.
    private func answerForItself(
        _ call: Call,
        _ client: RegisteredClient,
        _ name: String
    ) throws(FamilyRefusal) -> Reply {
        guard !["common", "organizations", "consumers"].contains(name) else { throw .entra(50_059) }
        guard call.form["scope"] == "https://graph.microsoft.com/.default" else {
            throw .entra(70_011)
        }
        let tenant = try tenant(name)
        guard !tenant.roles.isEmpty else { throw .entra(700_016, client.id) }
        let text = "EwC.\(TokenGenerator.text())"
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            state.appTokens.insert(
                MicrosoftState.AppToken(
                    tenantID: tenant.id,
                    clientID: client.id,
                    expiresSeconds: now + 3599
                ),
                for: TokenDigest(text)
            )
            let body: JSONValue = [
                "token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599,
                "access_token": .string(text),
            ]
            return (.json(body), .served)
        }
    }

    /// Whether the endpoint of `tenant` serves the ticket's user.
    private func covers(
        _ tenant: String,
        _ ticket: GrantBook.Ticket,
        in state: MicrosoftState
    ) -> Bool {
        let ids = MicrosoftIDs(ticket.grant)
        return switch tenant {
        case "common": true
        case "organizations": !ids.isPersonal
        case "consumers": ids.isPersonal
        default: tenant == ids.tenantID || state.tenant(tenant)?.id == ids.tenantID
        }
    }

    // MARK: - Client authentication

    /// By secret, in the form or in Basic, or by an assertion that the certificate's key signed.
    private func authenticate(
        _ call: Call,
        _ tenant: String
    ) throws(FamilyRefusal) -> RegisteredClient {
        let form = call.form
        let basic = BasicCredentials(call.authorization)
        guard let clientID = form["client_id"] ?? basic?.name else {
            throw Self.missing("client_id")
        }
        guard let client = clients[clientID] else {
            throw .entra(700_016, String(clientID.prefix(64)))
        }
        if let secret = form["client_secret"] ?? basic?.password {
            guard client.has(secret: secret) else { throw .entra(7_000_215) }
            return client
        }
        if form["client_assertion"] != nil {
            try check(PresentedAssertion(form), of: client, tenant)
            return client
        }
        guard client.authentication == .none else { throw .entra(7_000_218) }
        return client
    }

    /// PS256 with `x5t#S256`, or the older RS256 with `x5t` ("Certificate credentials").
    private func check(
        _ assertion: PresentedAssertion?,
        of client: RegisteredClient,
        _ tenant: String
    ) throws(FamilyRefusal) {
        guard let assertion, let certificate = client.certificate else { throw .entra(50_027) }
        let header = assertion.header
        let isNamed =
            switch header.alg {
            case "PS256": header.thumbprint == certificate.thumbprint
            case "RS256":
                header.thumbprint == certificate.thumbprint
                    || header.oldThumbprint == certificate.oldThumbprint
            default: false
            }
        guard isNamed, assertion.isSigned(by: client) else { throw .entra(700_027) }
        let path = "\(tenant)/oauth2/v2.0/token"
        let audiences = ["\(Self.authority)/\(path)", "\(service.address.baseURL)/\(name)/\(path)"]
        guard assertion.names(audiences) else { throw .entra(700_023) }
        guard
            assertion.isAbout(
                client.id,
                audiences: audiences,
                nowMilliseconds: service.clock.nowMilliseconds
            )
        else { throw .entra(700_024) }
    }
}

/// The errors of the token endpoint (learn.microsoft.com, "Microsoft Entra authentication and
/// authorization error codes") and of Graph.
extension FamilyRefusal {
    private static let entraErrors: [Int64: (error: String, text: String)] = [
        50_027: ("invalid_client", "JWT token is invalid or malformed."),
        50_059: ("invalid_request", "No tenant-identifying information found."),
        50_173: (
            "invalid_grant",
            "The provided grant has expired due to it being revoked, a fresh auth token is needed."
        ),
        54_005: ("invalid_grant", "OAuth2 Authorization code was already redeemed."),
        65_001: (
            "invalid_grant", "The user or administrator has not consented to use the application."
        ),
        70_000: (
            "invalid_grant",
            """
            The request was denied because one or more scopes requested are unauthorized or \
            expired. The user must first sign in and grant the client application access to them.
            """
        ),
        70_003: ("unsupported_grant_type", "The app returned an unsupported grant."),
        70_008: ("invalid_grant", "The provided authorization code has expired."),
        70_011: ("invalid_scope", "The provided scope is not valid."),
        90_002: ("invalid_request", "Tenant '{}' not found."),
        500_112: ("invalid_grant", "The reply address does not match the one requested."),
        501_481: ("invalid_grant", "The Code_Verifier does not match the challenge."),
        700_005: (
            "invalid_grant", "Provided Authorization Code is intended to use against other tenant."
        ),
        700_016: (
            "unauthorized_client",
            "Application with identifier '{}' was not found in the directory."
        ),
        700_023: ("invalid_client", "Client assertion audience claim is wrong."),
        700_024: ("invalid_client", "Client assertion is not within its valid time range."),
        700_027: (
            "invalid_client",
            """
            The certificate with identifier used to sign the client assertion is not registered \
            on application, or the signature is not valid.
            """
        ),
        700_082: ("invalid_grant", "The refresh token has expired due to inactivity."),
        900_144: (
            "invalid_request", "The request body must contain the following parameter: '{}'."
        ),
        7_000_215: ("invalid_client", "Invalid client secret provided."),
        7_000_218: (
            "invalid_client",
            """
            The request body must contain the following parameter: 'client_assertion' or \
            'client_secret'.
            """
        ),
        9_002_313: ("invalid_grant", "Invalid request. Request is malformed or invalid."),
    ]

    /// The error of an AADSTS number; 400, or 401 for clients that fail to prove themselves.
    static func entra(_ number: Int64, _ detail: String = "") -> FamilyRefusal {
        let (error, text) = entraErrors[number] ?? ("invalid_request", "")
        let status = error == "invalid_client" ? 401 : 400
        let trace = UUID().uuidString.lowercased()
        let shown = text.replacing("{}", with: detail)
        let body: JSONValue = [
            "error": .string(error),
            "error_description": .string("AADSTS\(number): \(shown) Trace ID: \(trace)"),
            "error_codes": [.integer(number)],
            "timestamp": "2026-01-01 00:00:00Z", "trace_id": .string(trace),
            "correlation_id": .string(trace),
            "error_uri": .string("https://login.microsoftonline.com/error?code=\(number)"),
        ]
        return FamilyRefusal("\(error) \(number)", .json(body, status: status))
    }

    private static func microsoftGraph(
        _ status: Int,
        _ code: String,
        _ message: String
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": [
                "code": .string(code), "message": .string(message),
                "innerError": ["request-id": .string(UUID().uuidString.lowercased())],
            ]
        ]
        return FamilyRefusal(code, .json(body, status: status))
    }

    static let graphUnauthorized = microsoftGraph(
        401,
        "InvalidAuthenticationToken",
        "Access token is empty, expired or unknown."
    )
    static let graphForbidden = microsoftGraph(
        403,
        "Authorization_RequestDenied",
        "Insufficient privileges to complete the operation."
    )
    static let graphNotFound = microsoftGraph(
        404,
        "Request_ResourceNotFound",
        "Resource does not exist or one of its queried reference-property objects are not present."
    )
    static let graphBadFilter = microsoftGraph(
        400,
        "Request_UnsupportedQuery",
        "Unsupported or invalid query filter clause specified."
    )
}
