import Encoding

/// What Apple tells the application's server, as far as it matters for deletion; both spellings of
/// the last one are in use.
package enum AppleEvent: String, CaseIterable, Sendable {
    case consentRevoked = "consent-revoked"
    case accountDelete = "account-delete"
    case accountDeleted = "account-deleted"
}

/// Clients of a team and the key that signs their secrets.
package struct AppleRegistration: Codable, Sendable {
    package let teamID: String
    package let keyID: String
    /// PEM, public or private (a .p8); only the public half is used.
    package let keyPEM: String
    package let clientIDs: [String]

    package init(teamID: String, keyID: String, keyPEM: String, clientIDs: [String]) {
        (self.teamID, self.keyID, self.keyPEM, self.clientIDs) = (teamID, keyID, keyPEM, clientIDs)
    }

    private enum CodingKeys: String, CodingKey {
        case teamID, keyID, clientIDs
        case keyPEM = "keyPem"
    }
}

/// How the sandbox plays Apple; the defaults are those of the examples in the documentation.
package struct AppleConfiguration: Sendable {
    /// How a second check of one refresh token within a day ends.
    package enum RefreshLimit: String, CaseIterable, Sendable {
        case off
        /// 429 without `Retry-After`: Apple says «you may get throttled» and no more
        /// (developer.apple.com, "Verifying a user").
        case daily
    }

    /// What a revoke answers that has no `token`, but has the token in a field named after its
    /// kind.
    package enum MisnamedToken: String, CaseIterable, Sendable {
        /// 200 without effect, as a client library once met it.
        case accept
        /// 400 `invalid_request`, as the documentation lets one expect.
        case refuse
    }

    package var teamID = "ABCDE12345"
    package var keyID = "KEY1234567"
    package var clientIDs: [String]
    /// Verifies client secrets instead of a key of our own: PEM, private or public.
    package var keyPEM: String?
    package var refreshLimit = RefreshLimit.daily
    package var misnamedToken = MisnamedToken.accept
    /// Whether the check of a refresh token answers an id token too; signing it is slow.
    package var returnsIDTokenOnRefresh = true

    package init(clientIDs: [String] = ["com.example.app"]) { self.clientIDs = clientIDs }
}

/// Plays `appleid.apple.com`: `/auth/token`, `/auth/revoke`, `/auth/keys`.
///
/// Sources: developer.apple.com, "Generate and validate tokens", "Revoke tokens", "ErrorResponse",
/// "Authenticating users" and "Processing changes for Sign in with Apple accounts".
final class AppleFamily: GrantFamily {
    struct State: GrantState {
        var book: GrantBook
        /// When refresh tokens were checked last, in Unix seconds.
        var checkedSeconds: BoundedTable<TokenDigest, Int64>
    }

    private static let daySeconds: Int64 = 86_400
    private static let tokenDead = FamilyRefusal.oauth(
        "invalid_grant",
        "The token has expired or has been revoked."
    )

    let service: GrantService<State>
    let configuration: AppleConfiguration
    let codeLifetimeSeconds: Int64 = 300
    let defaultScope = ""
    private let keys = AppleKeys()

    init(_ configuration: AppleConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        service = try GrantService(
            .apple,
            tools,
            [],
            State(book: tools.book, checkedSeconds: BoundedTable(capacity: tools.capacity))
        )
    }

    /// Apple is served at the root.
    var baseURL: String { service.address.baseURL }

    func register(_ order: AppleRegistration) throws(SandboxError) {
        keys.register(try CryptoKey(p256PEM: order.keyPEM), as: order.keyID, of: order.teamID)
        for clientID in order.clientIDs.sorted() {
            var registration = ClientRegistration(clientID)
            registration.project = order.teamID
            registration.authentication = .post
            try clients.register(registration)
        }
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        switch (method, path) {
        case ("POST", "/auth/token"): FamilyRoute(.token, answerToken)
        case ("POST", "/auth/revoke"): FamilyRoute(.revoke, answerRevoke)
        case ("GET", "/auth/keys"): FamilyRoute(.keys, handKeys)
        default: nil
        }
    }

    func answer(_ call: Call) -> Reply {
        var reply = serve(call)
        if reply.contentType != nil { reply.contentType = "application/json;charset=UTF-8" }
        return reply
    }

    /// A subject in Apple's form, `NNNNNN.hex32.NNNN`, always the same for a user and a team.
    func subject(of key: GrantBook.Key) -> String {
        let text = TokenDigest.hexadecimal("\(key.audience)/\(key.user)")
        let digits = text.utf8.map { String(Int($0) % 10) }
        return "\(digits[32..<38].joined()).\(text.prefix(32)).\(digits[38..<42].joined())"
    }

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        TokenRules(accessPrefix: "a", accessLifetimeSeconds: 3600, refreshPrefix: "r")
    }

    /// The subject decides also the relay address and the form of the booleans.
    func idToken(_ order: IDTokenOrder) throws -> String? {
        let subject = order.subject
        // Apple has sent these as booleans and as strings; callers must read both.
        let yes: JSONValue = (subject.utf8.last ?? 0) % 2 == 0 ? "true" : true
        return try signingKeys.sign([
            "iss": .string(AppleClientSecret.audience), "sub": .string(subject),
            "aud": .string(order.ticket.clientID), "iat": .integer(order.issuedSeconds),
            // Samples in the wild show 600 s and a day.
            "exp": .integer(order.issuedSeconds + Self.daySeconds),
            "auth_time": .integer(order.issuedSeconds),
            "nonce": JSONValue(order.ticket.nonce.map { TokenDigest.hexadecimal($0) }),
            "nonce_supported": true,
            "email": .string("\(subject.dropFirst(7).prefix(10))@privaterelay.appleid.com"),
            "email_verified": yes, "is_private_email": yes,
            "c_hash": JSONValue(order.code.map(TokenDigest.half)),
            "at_hash": JSONValue(order.accessToken.map(TokenDigest.half)), "real_user_status": 2,
        ])
    }

    /// `events` is a string that holds JSON, although it is documented as an object: a trap of the
    /// original.
    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification? {
        let event = try withdrawal.order.event(of: SandboxProvider.apple.events)
        let subject = service.cut(withdrawal.key)
        let now = service.clock.nowMilliseconds
        let inner: JSONValue = [
            "type": .string(event), "sub": .string(subject), "event_time": .integer(now),
        ]
        let payload = try signingKeys.sign([
            "iss": .string(AppleClientSecret.audience), "aud": .string(withdrawal.client.id),
            "iat": .integer(now / 1000), "exp": .integer(now / 1000 + Self.daySeconds),
            "jti": .string(TokenGenerator.text()), "events": .string(inner.compactText),
        ])
        let body: JSONValue = ["payload": .string(payload)]
        return SandboxNotification(contentType: "application/json", body: body.compactText)
    }
}

// MARK: - Endpoints

extension AppleFamily {
    private func answerToken(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        let grantType = call.form["grant_type"]
        let tokens = try makeTokens(
            call,
            client,
            for: grantType,
            rotate: false,
            refusing: { failure, _ in
                switch failure {
                case .foreign: Self.notIssued(to: client.id)
                case .used: .oauth("invalid_grant", "The code has already been used.")
                case .redirect: .oauth("invalid_client")
                case .unknown, .expired, .verifier:
                    .oauth("invalid_grant", "The code has expired or has been revoked.")
                }
            },
            renewing: { text, state, now throws(FamilyRefusal) in
                try check(text, client, in: &state, now: now)
            }
        )
        let isCode = grantType == "authorization_code"
        return try answer(tokens, withIDToken: isCode || configuration.returnsIDTokenOnRefresh)
    }

    private func check(
        _ text: String,
        _ client: RegisteredClient,
        in state: inout State,
        now: Int64
    ) throws(FamilyRefusal) -> GrantBook.Ticket {
        let digest = TokenDigest(text)
        guard let token = state.book.token(digest), token.kind == .refresh else {
            throw Self.tokenDead
        }
        guard token.ticket.clientID == client.id else { throw Self.notIssued(to: client.id) }
        guard state.book.standing(token, now: now) == .live else { throw Self.tokenDead }
        if configuration.refreshLimit == .daily, let checked = state.checkedSeconds[digest],
            now - checked < Self.daySeconds
        {
            throw FamilyRefusal("throttled", Reply(status: 429))
        }
        state.checkedSeconds.insert(now, for: digest)
        var ticket = token.ticket
        ticket.nonce = nil
        return ticket
    }

    /// 200 for everything but another client's live token: garbage, codes, id tokens and dead
    /// tokens cut nothing.
    private func answerRevoke(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        let form = call.form
        let success = Reply(status: 200)
        guard let text = form["token"] else {
            let isMisnamed = form["refresh_token"] != nil || form["access_token"] != nil
            guard isMisnamed, configuration.misnamedToken == .accept else {
                throw .invalidRequest
            }
            service.record(call, .ignored, status: 200)
            return success
        }
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(text, now: now) else { return (success, .ignored) }
            guard token.ticket.clientID == client.id else { throw Self.notIssued(to: client.id) }
            state.book.cut(token.ticket.grant)
            return (success, .revoked)
        }
    }

    /// Apple answers 400 where RFC 6749 has 401, and does not read a JSON body: it then misses the
    /// client.
    private func authenticate(_ call: Call) throws(FamilyRefusal) -> RegisteredClient {
        let form = call.form
        guard !form.hasDuplicates else { throw .invalidRequest }
        guard let client = clients[form["client_id"]], let teamID = client.registration.project,
            let secret = form["client_secret"],
            keys.accept(
                secret,
                for: client.id,
                of: teamID,
                at: Double(service.clock.nowMilliseconds) / 1000
            )
        else { throw .oauth("invalid_client") }
        return client
    }

    private static func notIssued(to clientID: String) -> FamilyRefusal {
        .oauth("invalid_grant", "client_id mismatch. The code was not issued to \(clientID).")
    }
}
