import Encoding

extension GitHubFamily {
    // MARK: - github.com

    /// Errors are 200 too, and everything is a form unless the caller accepts JSON.
    func answerToken(_ call: ProviderCall) throws(FamilyRefusal) -> ProviderReply {
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
        case nil, "authorization_code": return try exchange(call, client)
        case "refresh_token": return try refresh(call, client)
        default:
            throw Self.refusal("unsupported_grant_type", "The grant type is not supported.", call)
        }
    }

    private func exchange(
        _ call: ProviderCall,
        _ client: RegisteredClient
    ) throws(FamilyRefusal) -> ProviderReply {
        let (ticket, tokens) = try exchange(call, client, call.form) { failure, _ in
            guard case .redirect = failure else {
                return Self.refusal(
                    "bad_verification_code",
                    "The code passed is incorrect or expired.",
                    call
                )
            }
            return Self.refusal(
                "redirect_uri_mismatch",
                "The redirect_uri is not associated with this application.",
                call
            )
        }
        return Self.answer(tokens, ticket, call)
    }

    /// A refresh ends the tokens that it replaces, the access token too.
    private func refresh(
        _ call: ProviderCall,
        _ client: RegisteredClient
    ) throws(FamilyRefusal) -> ProviderReply {
        let text = call.form["refresh_token"] ?? ""
        let (ticket, tokens) = try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, .refresh, of: client.id, now: now) else {
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
        let end = tokens.rules.refreshLifetimeSeconds ?? 0
        return reply(
            [
                "access_token": .string(tokens.access),
                "expires_in": tokens.rules.accessLifetimeSeconds.map { .integer($0) },
                "refresh_token": JSONValue(tokens.refresh),
                "refresh_token_expires_in": tokens.refresh == nil ? nil : .integer(end),
                "token_type": "bearer",
                // GitHub Apps have permissions, no scopes.
                "scope": .string(tokens.refresh == nil ? ticket.scope : ""),
            ],
            call
        )
    }

    private static func refusal(
        _ error: String,
        _ description: String,
        _ call: ProviderCall
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": .string(error), "error_description": .string(description),
            "error_uri": "https://docs.github.com/apps",
        ]
        return FamilyRefusal(error, reply(body, call))
    }

    private static func reply(_ body: JSONValue, _ call: ProviderCall) -> ProviderReply {
        guard call.header("accept")?.contains("application/json") != true,
            case .object(let members) = body
        else { return .json(body) }
        let form = members.map { member in
            let text = member.value.string.map(PercentEncoding.encode)
            return "\(member.name)=\(text ?? member.value.compactText)"
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
        _ clientID: String,
        isGrant: Bool
    ) throws(FamilyRefusal) -> ProviderReply {
        let text = try authenticate(call, clientID)
        return try service.perform(call, status: 204) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, .access, of: clientID, now: now) else {
                throw Self.notFound
            }
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
        _ clientID: String
    ) throws(FamilyRefusal) -> ProviderReply {
        let text = try authenticate(call, clientID)
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, .access, of: clientID, now: now) else {
                throw Self.notFound
            }
            let body: JSONValue = [
                "token": .string(text), "app": ["client_id": .string(clientID)],
                "user": Self.user(token, in: state),
            ]
            return (.json(body), .checked)
        }
    }

    func answerUser(_ call: ProviderCall) throws(FamilyRefusal) -> ProviderReply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(call.bearer ?? "", .access, now: now) else {
                throw Self.api("Bad credentials", status: 401)
            }
            return (.json(Self.user(token, in: state)), .checked)
        }
    }

    private static func user(_ token: GrantBook.Token, in state: State) -> JSONValue {
        let number = Int64(state.book.subject(of: token.ticket)) ?? 0
        return ["login": .string(token.ticket.grant.user), "id": .integer(number)]
    }

    private static let notFound = api("Not Found", status: 404)

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
                ? Self.notFound : Self.api("Bad credentials", status: 401)
        }
        guard let text = Self.accessToken(call) else {
            throw Self.api("Validation Failed", status: 422)
        }
        return text
    }
}
