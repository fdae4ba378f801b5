import Encoding

extension FacebookFamily {
    private enum Caller {
        case app(RegisteredClient)
        case user(GrantBook.Ticket)

        var clientID: String {
            switch self {
            case .app(let client): client.id
            case .user(let ticket): ticket.clientID
            }
        }
    }

    func answerDeletion(
        _ call: Call,
        of user: String,
        _ permission: String?
    ) throws(FamilyRefusal) -> Reply {
        let success: JSONValue = ["success": true]
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            let (caller, key) = try grant(of: user, call, in: state, now: now)
            guard state.book.grants[key]?.isLive == true else {
                switch configuration.repeatedDelete {
                case .notFound: throw .noObject
                case .notInstalled: throw .notInstalled(caller.clientID)
                case .success: return (.json(success), .ignored)
                }
            }
            if let permission {
                state.declined[key, default: []].insert(permission)
                return (.json(success), .ignored)
            }
            state.book.cut(key)
            return (.json(success), .revoked)
        }
    }

    func answerPermissions(_ call: Call, of user: String) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            let key = try grant(of: user, call, in: state, now: now).key
            guard state.book.grants[key]?.isLive == true else {
                return (.json(["data": []]), .checked)
            }
            let declined = state.declined[key] ?? []
            let rows = ["public_profile", "email"].map { permission -> JSONValue in
                let status = declined.contains(permission) ? "declined" : "granted"
                return ["permission": .string(permission), "status": .string(status)]
            }
            return (.json(["data": .array(rows)]), .checked)
        }
    }

    func answerProfile(_ call: Call) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            let key = try grant(of: "me", call, in: state, now: now).key
            guard let found = state.book.grants[key] else { throw .noObject }
            return (.json(["name": "Sandbox User", "id": .string(found.subject)]), .checked)
        }
    }

    /// Looks at a token of the calling app; 200 also for dead ones.
    func answerDebug(_ call: Call) throws(FamilyRefusal) -> Reply {
        guard let input = call.query["input_token"] else {
            throw .graph(100, "(#100) The parameter input_token is required")
        }
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            let caller = try caller(call, in: state, now: now)
            guard let token = state.book.token(TokenDigest(input)) else {
                let error: JSONValue = ["code": 190, "message": "Invalid OAuth access token."]
                let data: JSONValue = ["error": error, "is_valid": false, "scopes": []]
                return (.json(["data": data]), .checked)
            }
            guard token.ticket.clientID == caller.clientID else {
                let text = "(#100) The App_id in the input_token did not match the Viewing App"
                throw .graph(100, text)
            }
            let error: JSONValue? =
                switch state.book.standing(token, now: now) {
                case .live: nil
                case .expired: ["code": 190, "message": "Session has expired", "subcode": 463]
                case .dead:
                    [
                        "code": 190, "message": "The user has not authorized application",
                        "subcode": 458,
                    ]
                }
            let scopes = token.ticket.scope.split(separator: ",").map(String.init)
            let data: JSONValue = [
                "app_id": .string(token.ticket.clientID), "type": "USER", "error": error,
                "expires_at": .integer(token.expiresSeconds ?? 0),
                "issued_at": .integer(token.issuedSeconds), "is_valid": .bool(error == nil),
                "scopes": .array(scopes.map { .string($0) }),
                "user_id": .string(state.book.subject(of: token.ticket)),
            ]
            return (.json(["data": data]), .checked)
        }
    }

    /// Limited Login's end: the id token must be fresh; permissions stay as they are.
    func answerUninstall(_ call: Call) throws(FamilyRefusal) -> Reply {
        guard let appID = call.form["app_id"], let text = call.form["id_token"] else {
            throw .graph(100, "(#100) Missing parameter")
        }
        guard let token = JSONWebToken(text), signingKeys.signed(token),
            let claims = JSONValue(token.payload), let user = claims["sub"]?.string,
            let end = claims["exp"]?.number, claims["aud"]?.string == appID
        else { throw .graph(190, "Invalid OIDC token") }
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            guard Double(now) < end else { throw .graph(190, subcode: 463, "Token has expired") }
            guard let key = state.owners["\(appID)/\(Self.limited)/\(user)"],
                state.book.grants[key]?.isLive == true
            else { throw .notInstalled(appID) }
            state.book.cut(key)
            return (.json(["success": true]), .revoked)
        }
    }

    func answerToken(_ call: Call) throws(FamilyRefusal) -> Reply {
        guard let client = clients[call.parameters["client_id"]] else {
            throw .graph(101, "Error validating application. Cannot get application info.")
        }
        guard client.has(secret: call.parameters["client_secret"]) else {
            throw .graph(1, "Error validating client secret.")
        }
        if call.parameters["grant_type"] == "client_credentials" {
            let token = "\(client.id)|\(client.secret ?? "")"
            return hand(["access_token": .string(token), "token_type": "bearer"], call)
        }
        let tokens = try makeTokens(
            call,
            client,
            for: "authorization_code",
            in: call.parameters,
            missing: { _ in .graph(100, "Missing code parameter.") },
            refusing: { failure, _ in Self.refusal(of: failure) },
            renewing: { _, _, _ throws(FamilyRefusal) in throw .invalidRequest }
        )
        return .json([
            "access_token": .string(tokens.access), "token_type": "bearer",
            "expires_in": .integer(60 * 86_400),
        ])
    }

    private static func refusal(of failure: GrantBook.CodeFailure) -> FamilyRefusal {
        switch failure {
        case .used: .graph(100, subcode: 36_009, "This authorization code has been used.")
        case .expired: .graph(100, subcode: 36_007, "This authorization code has expired.")
        case .redirect, .verifier:
            .graph(
                100,
                subcode: 36_008,
                "Error validating verification code. Please make sure your redirect_uri is "
                    + "identical to the one you used in the OAuth dialog request"
            )
        case .unknown, .foreign: .graph(100, "Invalid verification code format.")
        }
    }

    // MARK: - Callers

    private func caller(_ call: Call, in state: State, now: Int64) throws(FamilyRefusal) -> Caller {
        guard let text = call.parameters["access_token"] ?? call.bearer else {
            throw .graph(104, "An access token is required to request this resource.")
        }
        if let bar = text.firstIndex(of: "|") {
            guard let client = clients[String(text[..<bar])] else {
                throw .graph(101, "Error validating application. Invalid application ID.")
            }
            guard client.has(secret: String(text[text.index(after: bar)...])) else {
                throw .graph(190, "Invalid OAuth access token signature.")
            }
            try checkProof(call, of: text, by: client)
            return .app(client)
        }
        guard let token = state.book.token(TokenDigest(text)),
            let client = clients[token.ticket.clientID]
        else { throw .graph(190, "Invalid OAuth access token - Cannot parse access token") }
        try checkProof(call, of: text, by: client)
        switch state.book.standing(token, now: now) {
        case .live: return .user(token.ticket)
        case .expired:
            throw .graph(190, subcode: 463, "Error validating access token: Session has expired.")
        case .dead: throw .notInstalled(client.id)
        }
    }

    /// `appsecret_proof`: HMAC-SHA256 of the token that is used, in lower-case hexadecimal.
    private func checkProof(
        _ call: Call,
        of token: String,
        by client: RegisteredClient
    ) throws(FamilyRefusal) {
        let proof = call.parameters["appsecret_proof"]
        guard proof != nil || client.registration.requiresProof == true else { return }
        guard proof == Hexadecimal.text(client.sign(Array(token.utf8))) else {
            let text =
                proof == nil
                ? "API calls from the server require an appsecret_proof argument"
                : "Invalid appsecret_proof provided in the API argument"
            throw .graph(100, text, type: "GraphMethodException")
        }
    }

    /// Who calls, and the grant of an app-scoped id or of `me`.
    private func grant(
        of user: String,
        _ call: Call,
        in state: State,
        now: Int64
    ) throws(FamilyRefusal) -> (caller: Caller, key: GrantBook.Key) {
        let caller = try caller(call, in: state, now: now)
        switch caller {
        case .app(let client):
            guard user != "me" else {
                let act = "query information about the current user."
                throw .graph(2500, "An active access token must be used to \(act)")
            }
            guard let key = state.owners["\(client.id)/\(user)"] else { throw .noObject }
            return (caller, key)
        case .user(let ticket):
            guard user == "me" || user == state.book.subject(of: ticket) else { throw .noObject }
            return (caller, ticket.grant)
        }
    }
}
