import Encoding

extension GoogleFamily {
    func answerToken(_ call: ProviderCall) throws(FamilyRefusal) -> ProviderReply {
        let client = try authenticate(call)
        switch call.form["grant_type"] {
        case "authorization_code": return try exchange(call, client)
        case "refresh_token": return try refresh(call, client)
        case nil:
            throw .oauth("invalid_request", "Required parameter is missing: grant_type")
        case let other?:
            throw .oauth("unsupported_grant_type", "Invalid grant_type: \(other.prefix(64))")
        }
    }

    /// By form or Basic; clients of mobile applications have no secret.
    private func authenticate(_ call: ProviderCall) throws(FamilyRefusal) -> RegisteredClient {
        let form = call.form
        let basic = BasicCredentials(call.authorization)
        guard let client = clients[basic?.name ?? form["client_id"]] else {
            throw .oauth("invalid_client", "The OAuth client was not found.", status: 401)
        }
        guard client.secret == nil || client.has(secret: basic?.password ?? form["client_secret"])
        else { throw .oauth("invalid_client", "Unauthorized", status: 401) }
        return client
    }

    private func exchange(
        _ call: ProviderCall,
        _ client: RegisteredClient
    ) throws(FamilyRefusal) -> ProviderReply {
        guard call.form["code"] != nil else {
            throw .oauth("invalid_request", "Missing required parameter: code")
        }
        let (ticket, tokens) = try exchange(call, client, call.form) { failure, _ in
            if case .redirect = failure { return .oauth("redirect_uri_mismatch", "Bad Request") }
            return .oauth("invalid_grant", "Bad Request")
        }
        let idToken = try idToken(ticket, accessToken: tokens.access)
        return answer(tokens, ticket, idToken: idToken)
    }

    /// The refresh token stays, and its six months begin again.
    private func refresh(
        _ call: ProviderCall,
        _ client: RegisteredClient
    ) throws(FamilyRefusal) -> ProviderReply {
        guard let text = call.form["refresh_token"] else {
            throw .oauth("invalid_request", "Missing required parameter: refresh_token")
        }
        let (ticket, tokens) = try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, .refresh, now: now) else {
                throw .oauth("invalid_grant", "Token has been expired or revoked.")
            }
            // The token of another client: the client is told off, not the token.
            guard token.ticket.clientID == client.id else {
                throw .oauth("unauthorized_client", "Unauthorized", status: 401)
            }
            state.book.extend(TokenDigest(text), until: now + Self.refreshIdleSeconds)
            let rules = rules(for: client, token.ticket)
            let tokens = state.book.makeTokens(
                token.ticket,
                by: rules,
                withRefresh: false,
                now: now
            )
            return ((token.ticket, tokens), .validated)
        }
        let idToken = try idToken(ticket, accessToken: tokens.access)
        return answer(tokens, ticket, idToken: idToken)
    }

    /// Nobody proves who calls: the token is enough.
    ///
    /// It takes the whole project's grant along. Not idempotent, unlike RFC 7009: an unknown,
    /// expired or revoked token is an error.
    func answerRevoke(_ call: ProviderCall) throws(FamilyRefusal) -> ProviderReply {
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

    private func answer(
        _ tokens: TokenSet,
        _ ticket: GrantBook.Ticket,
        idToken: String?
    ) -> ProviderReply {
        .json([
            "access_token": .string(tokens.access), "expires_in": 3599,
            "refresh_token": JSONValue(tokens.refresh), "scope": .string(ticket.scope),
            "token_type": "Bearer", "id_token": JSONValue(idToken),
        ])
    }
}
