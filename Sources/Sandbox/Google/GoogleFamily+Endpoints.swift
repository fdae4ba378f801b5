/// The endpoints that act.
extension GoogleFamily {
    private static let tokenDead = FamilyRefusal.oauth(
        "invalid_grant",
        "Token has been expired or revoked."
    )

    func answerToken(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let form = call.form
        let client = try authenticate(call, form)
        switch form["grant_type"] {
        case "authorization_code": return try exchange(form, client, note)
        case "refresh_token": return try refresh(form, client, note)
        case nil:
            throw .oauth("invalid_request", "Required parameter is missing: grant_type")
        case let other?:
            throw .oauth("unsupported_grant_type", "Invalid grant_type: \(other.prefix(64))")
        }
    }

    /// By form or Basic; clients of mobile applications have no secret.
    private func authenticate(
        _ call: ProviderCall,
        _ form: FormBody
    ) throws(FamilyRefusal) -> RegisteredClient {
        let basic = BasicCredentials(call.authorization)
        guard let client = clients[basic?.name ?? form["client_id"]] else {
            throw .oauth("invalid_client", "The OAuth client was not found.", status: 401)
        }
        guard client.secret == nil || client.has(secret: basic?.password ?? form["client_secret"])
        else { throw .oauth("invalid_client", "Unauthorized", status: 401) }
        return client
    }

    private func exchange(
        _ form: FormBody,
        _ client: RegisteredClient,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        guard let code = form["code"] else {
            throw .oauth("invalid_request", "Missing required parameter: code")
        }
        let (ticket, tokens) = try service.perform(note) { state, now throws(FamilyRefusal) in
            let ticket: GrantBook.Ticket
            do throws(GrantBook.CodeFailure) {
                ticket = try state.book.redeem(
                    TokenDigest(code),
                    by: client.id,
                    redirectURI: form["redirect_uri"],
                    verifier: form["code_verifier"],
                    now: now
                )
            } catch {
                if case .redirect = error { throw .oauth("redirect_uri_mismatch", "Bad Request") }
                throw .oauth("invalid_grant", "Bad Request")
            }
            let rules = rules(for: client, ticket)
            return ((ticket, state.book.makeTokens(ticket, by: rules, now: now)), .exchanged)
        }
        let idToken = try idToken(ticket, accessToken: tokens.access)
        return answer(tokens, ticket, idToken: idToken)
    }

    /// The refresh token stays, and its six months begin again.
    private func refresh(
        _ form: FormBody,
        _ client: RegisteredClient,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        guard let text = form["refresh_token"] else {
            throw .oauth("invalid_request", "Missing required parameter: refresh_token")
        }
        let digest = TokenDigest(text)
        let (ticket, tokens) = try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(digest), token.kind == .refresh,
                state.book.standing(token, now: now) == .live
            else { throw Self.tokenDead }
            // The token of another client: the client is told off, not the token.
            guard token.ticket.clientID == client.id else {
                throw .oauth("unauthorized_client", "Unauthorized", status: 401)
            }
            state.book.extend(digest, until: now + Self.refreshIdleSeconds)
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
    func answerRevoke(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        guard let text = call.query["token"] ?? call.form["token"] else {
            throw .oauth("invalid_request", "Missing required parameter: token")
        }
        return try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(TokenDigest(text)),
                state.book.standing(token, now: now) == .live
            else { throw .oauth("invalid_token", "Token expired or revoked") }
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
            "access_token": .text(tokens.access), "expires_in": 3599,
            "refresh_token": .optional(tokens.refresh), "scope": .text(ticket.scope),
            "token_type": "Bearer", "id_token": .optional(idToken),
        ])
    }
}
