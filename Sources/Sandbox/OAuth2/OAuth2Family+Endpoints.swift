/// The endpoints that act.
extension OAuth2Family {
    private static let invalidRequest = FamilyRefusal.oauth("invalid_request")

    private static let invalidClient: FamilyRefusal = {
        var reply = ProviderReply.json(["error": "invalid_client"], status: 401)
        // RFC 6749 §5.2: a must after a failed Basic, allowed after the others.
        reply.headers["www-authenticate"] = "Basic realm=\"sandbox\""
        return FamilyRefusal("invalid_client", reply)
    }()

    /// Signs in the user that `login_hint` names, without asking, and sends the browser back.
    func answerAuthorize(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let query = call.query
        guard query["response_type"] == "code", clients[query["client_id"]] != nil,
            let redirectURI = query["redirect_uri"], let user = query["login_hint"]
        else { throw Self.invalidRequest }
        var order = SandboxOrder.SignIn(user: user)
        order.clientID = query["client_id"]
        order.redirectURI = redirectURI
        order.nonce = query["nonce"]
        order.scope = query["scope"]
        order.codeChallenge = query["code_challenge"]
        let code: String?
        do {
            code = try signIn(order).code
        } catch {
            throw .internalError
        }
        var reply = ProviderReply(status: 302)
        let mark = redirectURI.contains("?") ? "&" : "?"
        // base64url needs no encoding; the state goes back as it came.
        let state = call.query["state"].map { "&state=\(FormBody.encoded($0))" } ?? ""
        reply.headers["location"] = "\(redirectURI)\(mark)code=\(code ?? "")\(state)"
        service.record(note, .served, status: 302)
        return reply
    }

    func answerToken(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let client = try authenticate(call)
        let form = call.form
        switch form["grant_type"] {
        case "authorization_code": return try exchange(form, client, note)
        case "refresh_token": return try refresh(form, client, note)
        case nil: throw Self.invalidRequest
        default: throw .oauth("unsupported_grant_type")
        }
    }

    private func exchange(
        _ form: FormBody,
        _ client: RegisteredClient,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        guard let code = form["code"] else { throw Self.invalidRequest }
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
                if case .used(let earlier) = error {
                    // RFC 6749 §4.1.2: what the first exchange gave is not safe any more.
                    state.book.kill(chain: earlier.chain)
                }
                throw .oauth("invalid_grant")
            }
            let rules = rules(for: client, ticket)
            return ((ticket, state.book.makeTokens(ticket, by: rules, now: now)), .exchanged)
        }
        let idToken = try idToken(ticket, accessToken: tokens.access)
        return answer(tokens, ticket, idToken: idToken)
    }

    private func refresh(
        _ form: FormBody,
        _ client: RegisteredClient,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        guard let text = form["refresh_token"] else { throw Self.invalidRequest }
        let digest = TokenDigest(text)
        let rotation = configuration.rotation
        let (ticket, tokens) = try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(digest), token.kind == .refresh,
                token.ticket.clientID == client.id
            else { throw .oauth("invalid_grant") }
            guard state.book.standing(token, now: now) == .live else {
                if token.isDead, rotation == .detectReuse {
                    state.book.kill(chain: token.ticket.chain)
                }
                throw .oauth("invalid_grant")
            }
            if rotation != .off {
                state.book.kill(digest)
            }
            let tokens = state.book.makeTokens(
                token.ticket,
                by: rules(for: client, token.ticket),
                withRefresh: rotation != .off,
                now: now
            )
            return ((token.ticket, tokens), .validated)
        }
        return answer(tokens, ticket, idToken: nil)
    }

    func answerRevoke(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let client = try authenticate(call)
        guard let text = call.form["token"] else { throw Self.invalidRequest }
        let digest = TokenDigest(text)
        let isCut = try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(digest),
                state.book.standing(token, now: now) == .live
            else {
                guard configuration.unknownToken != .refused else {
                    throw .oauth("invalid_token")
                }
                return (false, .ignored)
            }
            // RFC 7009 §2.1 refuses another client's token and names no code; this is Keycloak's.
            guard token.ticket.clientID == client.id else { throw Self.invalidRequest }
            guard token.kind == .refresh || configuration.revokesAccessTokens else {
                throw .oauth("unsupported_token_type")
            }
            switch configuration.reach {
            case .grant: state.book.cut(token.ticket.grant)
            case .signIn where token.kind == .refresh:
                state.book.kill(chain: token.ticket.chain)
            case .signIn, .token: state.book.kill(digest)
            }
            return (true, .revoked)
        }
        if !isCut, configuration.unknownToken == .errorInBody {
            return .json(["error": "invalid_token"])
        }
        return ProviderReply(status: 200)
    }

    /// RFC 7662: a token that is not live, or not the caller's, is inactive and nothing more.
    func answerIntrospect(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let client = try authenticate(call)
        guard let text = call.form["token"] else { throw Self.invalidRequest }
        let issuer = issuer
        return try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(TokenDigest(text)),
                state.book.standing(token, now: now) == .live,
                token.ticket.clientID == client.id
            else { return (.json(["active": false]), .checked) }
            let reply = ProviderReply.json([
                "active": true, "scope": .text(token.ticket.scope),
                "client_id": .text(client.id), "sub": .text(state.book.subject(of: token.ticket)),
                "iat": .integer(token.issuedSeconds),
                "exp": token.expiresSeconds.map { .integer($0) } ?? .absent,
                "iss": .text(issuer), "token_type": .text("Bearer"),
            ])
            return (reply, .checked)
        }
    }

    private func answer(
        _ tokens: TokenSet,
        _ ticket: GrantBook.Ticket,
        idToken: String?
    ) -> ProviderReply {
        .json([
            "access_token": .text(tokens.access), "token_type": "Bearer",
            "expires_in": .integer(configuration.accessLifetimeSeconds),
            "refresh_token": .optional(tokens.refresh), "id_token": .optional(idToken),
            "scope": .text(ticket.scope),
        ])
    }

    // MARK: - Client authentication

    /// Finds the client, which must prove itself in the one way that it is registered with.
    private func authenticate(_ call: ProviderCall) throws(FamilyRefusal) -> RegisteredClient {
        let form = call.form
        guard !form.hasDuplicates else { throw Self.invalidRequest }
        let proofs = [call.authorization, form["client_secret"], form["client_assertion"]]
        // RFC 6749 §2.3: one method in a request.
        guard proofs.compactMap(\.self).count <= 1 else { throw Self.invalidRequest }
        let client = try prove(call, form)
        guard form["client_id"].map({ $0 == client.id }) ?? true else { throw Self.invalidClient }
        return client
    }

    private func prove(
        _ call: ProviderCall,
        _ form: FormBody
    ) throws(FamilyRefusal) -> RegisteredClient {
        if let basic = BasicCredentials(call.authorization) {
            // Both are form-encoded inside of Basic (RFC 6749 §2.3.1).
            let name = FormBody.decoded(Array(basic.name.utf8)[...])
            let password = FormBody.decoded(Array(basic.password.utf8)[...])
            guard let client = clients[name], client.authentication == .basic,
                client.has(secret: password)
            else { throw Self.invalidClient }
            return client
        }
        if form["client_assertion"] != nil {
            return try proveByAssertion(form, "\(service.address.baseURL)\(call.path)")
        }
        guard let client = clients[form["client_id"]] else { throw Self.invalidClient }
        if let secret = form["client_secret"] {
            guard client.authentication == .post, client.has(secret: secret) else {
                throw Self.invalidClient
            }
            return client
        }
        guard client.authentication == .none else { throw Self.invalidClient }
        return client
    }

    private func proveByAssertion(
        _ form: FormBody,
        _ endpoint: String
    ) throws(FamilyRefusal) -> RegisteredClient {
        guard let assertion = ClientAssertion(form), let identity = assertion.identity,
            let client = clients[assertion.clientID],
            [.secretJWT, .privateKeyJWT].contains(client.authentication),
            assertion.isAbout(
                client.id,
                // RFC 7523 §3: the token endpoint or the issuer names the server.
                audiences: [issuer, "\(issuer)/token", endpoint],
                nowMilliseconds: service.clock.nowMilliseconds
            ),
            assertion.isSigned(by: client)
        else { throw Self.invalidClient }
        let isFresh = service.changed { state in
            guard state.assertions[identity] == nil else { return false }
            state.assertions.insert(true, for: identity)
            return true
        }
        guard isFresh else { throw Self.invalidClient }
        return client
    }
}
