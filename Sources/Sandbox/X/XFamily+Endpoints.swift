/// The endpoints that act or look something up.
extension XFamily {
    private static let invalidToken = FamilyRefusal.oauth(
        "invalid_request",
        "Value passed for the token was invalid."
    )

    // MARK: - OAuth 2

    func answerToken(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let client = try authenticate(call)
        let form = call.form
        let tokens: TokenSet
        switch form["grant_type"] {
        case "authorization_code":
            tokens = try service.perform(note) { state, now throws(FamilyRefusal) in
                do throws(GrantBook.CodeFailure) {
                    let ticket = try state.book.redeem(
                        TokenDigest(form["code"] ?? ""),
                        by: client.id,
                        redirectURI: form["redirect_uri"],
                        verifier: form["code_verifier"],
                        now: now
                    )
                    let rules = rules(for: client, ticket)
                    return (state.book.makeTokens(ticket, by: rules, now: now), .exchanged)
                } catch {
                    throw .oauth(
                        "invalid_request",
                        "Value passed for the authorization code was invalid."
                    )
                }
            }
        case "refresh_token":
            let digest = TokenDigest(form["refresh_token"] ?? "")
            // Single use.
            tokens = try service.perform(note) { state, now throws(FamilyRefusal) in
                let token = try live(digest, client, in: state, now: now)
                guard token.kind == .refresh else { throw Self.invalidToken }
                state.book.kill(digest)
                let rules = rules(for: client, token.ticket)
                return (state.book.makeTokens(token.ticket, by: rules, now: now), .validated)
            }
        default:
            throw .oauth("invalid_request", "Missing required parameter [grant_type].")
        }
        return .json([
            "token_type": "bearer", "expires_in": 7200, "access_token": .text(tokens.access),
            "refresh_token": .optional(tokens.refresh),
        ])
    }

    /// Ends one token and nothing else.
    func answerRevoke(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        let client = try authenticate(call)
        guard let text = call.form["token"] else {
            throw .oauth("invalid_request", "Missing required parameter [token].")
        }
        let digest = TokenDigest(text)
        return try service.perform(note) { state, now throws(FamilyRefusal) in
            let success = ProviderReply.json(["revoked": true])
            guard let token = state.book.token(digest),
                state.book.standing(token, now: now) == .live
            else {
                guard !configuration.refusesUnknownTokens else { throw Self.invalidToken }
                return (success, .ignored)
            }
            guard token.ticket.clientID == client.id else { throw Self.invalidToken }
            state.book.kill(digest)
            return (success, .revoked)
        }
    }

    func answerMe(_ call: ProviderCall, _ note: CallNote) throws(FamilyRefusal) -> ProviderReply {
        let digest = TokenDigest(call.bearer ?? "")
        return try service.perform(note) { state, now throws(FamilyRefusal) in
            guard let token = state.book.token(digest), token.kind == .access,
                state.book.standing(token, now: now) == .live
            else {
                let body: JSON = ["title": "Unauthorized", "status": 401, "detail": "Unauthorized"]
                throw FamilyRefusal("unauthorized", .json(body, status: 401))
            }
            let user: JSON = [
                "id": .text(state.book.subject(of: token.ticket)), "name": "Sandbox User",
                "username": .text(token.ticket.grant.user),
            ]
            return (.json(["data": user]), .checked)
        }
    }

    /// Confidential clients come with Basic, public ones with their id in the form.
    private func authenticate(_ call: ProviderCall) throws(FamilyRefusal) -> RegisteredClient {
        let missing = FamilyRefusal.oauth(
            "unauthorized_client",
            "Missing valid authorization header",
            status: 401
        )
        if let basic = BasicCredentials(call.authorization) {
            guard let client = clients[basic.name], client.has(secret: basic.password) else {
                throw missing
            }
            return client
        }
        guard let client = clients[call.form["client_id"]], client.secret == nil else {
            throw missing
        }
        return client
    }

    private func live(
        _ digest: TokenDigest,
        _ client: RegisteredClient,
        in state: State,
        now: Int64
    ) throws(FamilyRefusal) -> GrantBook.Token {
        guard let token = state.book.token(digest), token.ticket.clientID == client.id,
            state.book.standing(token, now: now) == .live
        else { throw Self.invalidToken }
        return token
    }

    // MARK: - OAuth 1.0a

    func answerInvalidate(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        try service.perform(note) { state, now throws(FamilyRefusal) in
            let (text, _) = try signer(of: call, in: &state, now: now)
            state.book.kill(TokenDigest(text))
            return (.json(["access_token": .text(text)]), .revoked)
        }
    }

    func answerVerify(
        _ call: ProviderCall,
        _ note: CallNote
    ) throws(FamilyRefusal) -> ProviderReply {
        try service.perform(note) { state, now throws(FamilyRefusal) in
            let (_, token) = try signer(of: call, in: &state, now: now)
            let body: JSON = [
                "id_str": .text(state.book.subject(of: token.ticket)),
                "screen_name": .text(token.ticket.grant.user),
            ]
            return (.json(body), .checked)
        }
    }

    /// The token that signed the call.
    private func signer(
        of call: ProviderCall,
        in state: inout State,
        now: Int64
    ) throws(FamilyRefusal) -> (text: String, token: GrantBook.Token) {
        guard let signed = SignedCall(call), let client = clients[signed.consumerKey],
            let consumerSecret = client.secret, let nonce = signed.nonce,
            let timestamp = signed.timestamp
        else { throw Self.errors(32, "Could not authenticate you.") }
        guard abs(timestamp - now) <= 300 else {
            throw Self.errors(135, "Timestamp out of bounds.")
        }
        let dead = Self.errors(89, "Invalid or expired token.")
        guard let text = signed.token, let secret = state.secrets[TokenDigest(text)],
            let token = state.book.token(TokenDigest(text)), token.ticket.clientID == client.id
        else { throw dead }
        guard signed.isSigned(consumerSecret: consumerSecret, tokenSecret: secret) else {
            throw Self.errors(32, "Could not authenticate you.")
        }
        let once = TokenDigest("\(client.id)\n\(text)\n\(timestamp)\n\(nonce)")
        guard state.nonces[once] == nil else {
            throw Self.errors(32, "Could not authenticate you.")
        }
        state.nonces.insert(true, for: once)
        guard state.book.standing(token, now: now) == .live else { throw dead }
        return (text, token)
    }

    /// An error of the 1.1 API.
    private static func errors(_ code: Int64, _ message: String) -> FamilyRefusal {
        let body: JSON = ["errors": [["code": .integer(code), "message": .text(message)]]]
        return FamilyRefusal("\(code)", .json(body, status: 401))
    }
}
