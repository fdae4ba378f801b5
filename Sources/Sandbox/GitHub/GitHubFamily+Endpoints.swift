/// The endpoints that act or look something up.
extension GitHubFamily {
    // MARK: - github.com

    /// Errors are 200 too, and everything is a form unless the caller accepts JSON.
    func answerToken(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let form = call.form
        guard let client = clients[form["client_id"]], client.has(secret: form["client_secret"])
        else {
            throw Self.refusal(
                "incorrect_client_credentials",
                "The client_id and/or client_secret passed are incorrect.",
                call
            )
        }
        switch form["grant_type"] {
        case nil, "authorization_code": return try exchange(call, client, note)
        case "refresh_token": return try refresh(call, client, note)
        default:
            throw Self.refusal("unsupported_grant_type", "The grant type is not supported.", call)
        }
    }

    private func exchange(
        _ call: ProviderCall,
        _ client: RegisteredClient,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let form = call.form
        let (ticket, tokens) = try service.perform(note) { state, now throws(FamilyRefusal) in
            let ticket: GrantBook.Ticket
            do throws(GrantBook.CodeFailure) {
                ticket = try state.book.redeem(
                    TokenDigest(form["code"] ?? ""),
                    by: client.id,
                    redirectURI: form["redirect_uri"],
                    verifier: form["code_verifier"],
                    now: now
                )
            } catch {
                if case .redirect = error {
                    throw Self.refusal(
                        "redirect_uri_mismatch",
                        "The redirect_uri is not associated with this application.",
                        call
                    )
                }
                throw Self.refusal(
                    "bad_verification_code",
                    "The code passed is incorrect or expired.",
                    call
                )
            }
            let rules = rules(for: client, ticket)
            return ((ticket, state.book.makeTokens(ticket, by: rules, now: now)), .exchanged)
        }
        return Self.answer(tokens, ticket, call)
    }

    /// A refresh ends the tokens that it replaces, the access token too.
    private func refresh(
        _ call: ProviderCall,
        _ client: RegisteredClient,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let digest = TokenDigest(call.form["refresh_token"] ?? "")
        let (ticket, tokens) = try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(digest), token.kind == .refresh,
                token.ticket.clientID == client.id,
                state.book.standing(token, now: now) == .live
            else {
                throw Self.refusal(
                    "bad_refresh_token",
                    "The refresh token passed is incorrect or expired.",
                    call
                )
            }
            let ticket = state.book.replace(token.ticket)
            let rules = rules(for: client, ticket)
            return ((ticket, state.book.makeTokens(ticket, by: rules, now: now)), .validated)
        }
        return Self.answer(tokens, ticket, call)
    }

    private static func answer(
        _ tokens: TokenSet,
        _ ticket: GrantBook.Ticket,
        _ call: ProviderCall
    ) -> ProviderReply {
        var members = [("access_token", JSON.text(tokens.access))]
        if let lifetime = tokens.rules.accessLifetimeSeconds {
            members.append(("expires_in", .integer(lifetime)))
        }
        if let refresh = tokens.refresh {
            members.append(("refresh_token", .text(refresh)))
            members.append(
                (
                    "refresh_token_expires_in",
                    .integer(tokens.rules.refreshLifetimeSeconds ?? 0)
                )
            )
        }
        members.append(("token_type", "bearer"))
        // GitHub Apps have permissions, no scopes.
        members.append(("scope", .text(tokens.refresh == nil ? ticket.scope : "")))
        return reply(members, call)
    }

    private static func refusal(
        _ error: String,
        _ description: String,
        _ call: ProviderCall
    ) -> FamilyRefusal {
        let members: [(String, JSON)] = [
            ("error", .text(error)), ("error_description", .text(description)),
            ("error_uri", "https://docs.github.com/apps"),
        ]
        return FamilyRefusal(error, reply(members, call))
    }

    private static func reply(_ members: [(String, JSON)], _ call: ProviderCall) -> ProviderReply {
        if call.header("accept")?.contains("application/json") == true {
            return .json(.object(members.map { JSON.Member(name: $0.0, value: $0.1) }))
        }
        let form = members.map { name, value in
            switch value {
            case .text(let text): "\(name)=\(FormBody.encoded(text))"
            default: "\(name)=\(String(decoding: value.bytes, as: UTF8.self))"
            }
        }
        return ProviderReply(
            status: 200,
            contentType: "application/x-www-form-urlencoded; charset=utf-8",
            body: Array(form.joined(separator: "&").utf8)
        )
    }

    // MARK: - api.github.com

    /// Deletes one token, or the grant with all of them; the token must be live.
    func answerDeletion(
        _ call: ProviderCall,
        _ note: CallNote,
        _ clientID: String,
        isGrant: Bool
    ) throws(FamilyRefusal) -> ProviderReply {
        let text = try authenticate(call, clientID)
        var noted = note
        noted.record.status = 204
        return try service.perform(noted) { state, now throws(FamilyRefusal) in
            let token = try live(text, clientID, in: state, now: now)
            if isGrant {
                state.book.cut(token.ticket.grant)
            } else {
                state.book.kill(TokenDigest(text))
            }
            return (ProviderReply(status: 204), .revoked)
        }
    }

    func answerCheck(
        _ call: ProviderCall,
        _ note: CallNote,
        _ clientID: String
    ) throws(FamilyRefusal) -> ProviderReply {
        let text = try authenticate(call, clientID)
        return try service.perform(note) { state, now throws(FamilyRefusal) in
            let token = try live(text, clientID, in: state, now: now)
            let body: JSON = [
                "token": .text(text), "app": ["client_id": .text(clientID)],
                "user": Self.user(token, in: state),
            ]
            return (.json(body), .checked)
        }
    }

    func answerUser(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let digest = TokenDigest(call.bearer ?? "")
        return try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(digest), token.kind == .access,
                state.book.standing(token, now: now) == .live
            else { throw Self.api("Bad credentials", status: 401) }
            return (.json(Self.user(token, in: state)), .checked)
        }
    }

    private static func user(_ token: GrantBook.Token, in state: State) -> JSON {
        let number = Int64(state.book.subject(of: token.ticket)) ?? 0
        return ["login": .text(token.ticket.grant.user), "id": .integer(number)]
    }

    /// Checks Basic and finds the token of the body.
    private func authenticate(
        _ call: ProviderCall,
        _ clientID: String
    ) throws(FamilyRefusal) -> String {
        let basic = BasicCredentials(call.authorization)
        guard let client = clients[clientID], basic?.name == clientID,
            client.has(secret: basic?.password)
        else {
            throw configuration.badCredentials == .notFound
                ? Self.api("Not Found", status: 404) : Self.api("Bad credentials", status: 401)
        }
        guard let text = accessToken(call) else {
            throw Self.api("Validation Failed", status: 422)
        }
        return text
    }

    /// The token, when it is this client's and live; an expired one is as good as none.
    private func live(
        _ text: String,
        _ clientID: String,
        in state: State,
        now: Int64
    ) throws(FamilyRefusal) -> GrantBook.Token {
        guard let token = state.book.token(TokenDigest(text)), token.kind == .access,
            token.ticket.clientID == clientID, state.book.standing(token, now: now) == .live
        else { throw Self.api("Not Found", status: 404) }
        return token
    }
}
