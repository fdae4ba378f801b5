import Encoding

extension OAuth2Family {
    private static let invalidClient: FamilyRefusal = {
        var reply = Reply.json(["error": "invalid_client"], status: 401)
        // RFC 6749 §5.2: a must after a failed Basic, allowed after the others.
        reply.headers["www-authenticate"] = "Basic realm=\"sandbox\""
        return FamilyRefusal("invalid_client", reply)
    }()

    /// Signs in the user that `login_hint` names, without asking, and sends the browser back.
    func answerAuthorize(_ call: Call) throws(FamilyRefusal) -> Reply {
        let query = call.query
        guard query["response_type"] == "code", clients[query["client_id"]] != nil,
            let redirectURI = query["redirect_uri"], let user = query["login_hint"]
        else { throw .invalidRequest }
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
        var reply = Reply(status: 302)
        let mark = redirectURI.contains("?") ? "&" : "?"
        // base64url needs no encoding; the state goes back as it came.
        let state = query["state"].map { "&state=\(PercentEncoding.encode($0))" } ?? ""
        reply.headers["location"] = "\(redirectURI)\(mark)code=\(code ?? "")\(state)"
        service.record(call, .served, status: 302)
        return reply
    }

    func answerToken(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        let grantType = call.form["grant_type"]
        let rotation = configuration.rotation
        let tokens = try makeTokens(
            call,
            client,
            for: grantType,
            rotate: rotation != .off,
            refusing: { failure, state in
                if case .used(let earlier) = failure {
                    // RFC 6749 §4.1.2: what the first exchange gave is not safe any more.
                    state.book.kill(chain: earlier.chain)
                }
                return .oauth("invalid_grant")
            },
            renewing: { text, state, now throws(FamilyRefusal) in
                let digest = TokenDigest(text)
                guard let token = state.book.token(digest), token.kind == .refresh,
                    token.ticket.clientID == client.id
                else { throw .oauth("invalid_grant") }
                guard state.book.standing(token, now: now) == .live else {
                    if token.isDead, rotation == .detectReuse {
                        state.book.kill(chain: token.ticket.chain)
                    }
                    throw .oauth("invalid_grant")
                }
                if rotation != .off { state.book.kill(digest) }
                return token.ticket
            }
        )
        return try answer(tokens, withIDToken: grantType == "authorization_code")
    }

    func answerRevoke(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        guard let text = call.form["token"] else { throw .invalidRequest }
        let isCut = try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, now: now) else {
                guard configuration.unknownToken != .refused else { throw .oauth("invalid_token") }
                return (false, .ignored)
            }
            // RFC 7009 §2.1 refuses another client's token and names no code; this is Keycloak's.
            guard token.ticket.clientID == client.id else { throw .invalidRequest }
            guard token.kind == .refresh || configuration.revokesAccessTokens else {
                throw .oauth("unsupported_token_type")
            }
            switch configuration.reach {
            case .grant: state.book.cut(token.ticket.grant)
            case .signIn where token.kind == .refresh:
                state.book.kill(chain: token.ticket.chain)
            case .signIn, .token: state.book.kill(TokenDigest(text))
            }
            return (true, .revoked)
        }
        if !isCut, configuration.unknownToken == .errorInBody {
            return .json(["error": "invalid_token"])
        }
        return Reply(status: 200)
    }

    /// RFC 7662: a token that is not live, or not the caller's, is inactive and nothing more.
    func answerIntrospect(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        guard let text = call.form["token"] else { throw .invalidRequest }
        let issuer = issuer
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, of: client.id, now: now) else {
                return (.json(["active": false]), .checked)
            }
            let reply = Reply.json([
                "active": true, "scope": .string(token.ticket.scope),
                "client_id": .string(client.id),
                "sub": .string(state.book.subject(of: token.ticket)),
                "iat": .integer(token.issuedSeconds),
                "exp": token.expiresSeconds.map { .integer($0) },
                "iss": .string(issuer), "token_type": "Bearer",
            ])
            return (reply, .checked)
        }
    }

    // MARK: - Client authentication

    /// Finds the client, which must prove itself in the one way that it is registered with.
    private func authenticate(_ call: Call) throws(FamilyRefusal) -> RegisteredClient {
        let form = call.form
        guard !form.hasDuplicates else { throw .invalidRequest }
        let proofs = [call.authorization, form["client_secret"], form["client_assertion"]]
        // RFC 6749 §2.3: one method in a request.
        guard proofs.compactMap(\.self).count <= 1 else { throw .invalidRequest }
        let client = try prove(call, form)
        guard form["client_id"].map({ $0 == client.id }) ?? true else { throw Self.invalidClient }
        return client
    }

    private func prove(_ call: Call, _ form: ParsedForm) throws(FamilyRefusal) -> RegisteredClient {
        if let basic = BasicCredentials(call.authorization) {
            // Both are form-encoded inside of Basic (RFC 6749 §2.3.1).
            guard let client = clients[ParsedForm.decoded(basic.name)],
                client.authentication == .basic,
                client.has(secret: ParsedForm.decoded(basic.password))
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
        _ form: ParsedForm,
        _ endpoint: String
    ) throws(FamilyRefusal) -> RegisteredClient {
        guard let assertion = PresentedAssertion(form), let identity = assertion.identity,
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
        let isFresh = service.change { state in
            defer { state.assertions.insert(true, for: identity) }
            return state.assertions[identity] == nil
        }
        guard isFresh else { throw Self.invalidClient }
        return client
    }
}
