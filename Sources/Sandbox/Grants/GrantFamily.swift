/// A family whose grants are in a ``GrantBook``: everything but Apple.
protocol GrantFamily: ProviderFamily, FamilyCommands {
    associatedtype State: GrantState

    var service: GrantService<State> { get }
    var clients: ClientRegistry { get }
    var signingKeys: SigningKeys { get }
    /// How long codes live.
    var codeLifetimeSeconds: Int64 { get }
    /// Whether a code is given to clients with a PKCE challenge only.
    var needsProofKey: Bool { get }

    /// What the call presents, for the journal.
    func note(_ call: ProviderCall) -> CallNote

    /// What answers at a path; `nil` when it is not this family's.
    func route(_ method: String, _ path: String) -> FamilyRoute?

    /// The grant that a user's sign-in to a client makes.
    func grantKey(
        user: String,
        client: RegisteredClient,
        realm: String?
    ) throws(SandboxError) -> GrantBook.Key

    /// The provider's identifier of the user.
    func subject(of key: GrantBook.Key) -> String

    /// The tokens that a client gets.
    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules

    /// The scope of a sign-in that names none.
    var defaultScope: String { get }

    /// Whether a sign-in gives a code.
    func givesCode(_ realm: String?) -> Bool

    /// Adds what the family keeps for tokens that were made without a sign-in.
    ///
    /// - Returns: The secret of an OAuth 1.0a token.
    func keep(_ tokens: TokenSet, in state: inout State, _ ticket: GrantBook.Ticket) -> String?

    /// The id token of a sign-in; `nil` when the provider has none.
    func idToken(
        _ ticket: GrantBook.Ticket,
        subject: String,
        accessToken: String?,
        issuedSeconds: Int64
    ) throws -> String?

    /// What the provider sends when `event` happens to a user, and the event's effect.
    func happen(
        _ order: SandboxOrder.Withdrawal,
        to key: GrantBook.Key,
        client: RegisteredClient
    ) throws -> SandboxNotification?
}

/// An endpoint with what answers there.
///
/// A refusal that the service did not record is recorded by the caller.
struct FamilyRoute {
    let endpoint: SandboxEndpoint
    let answer: (ProviderCall, CallNote) throws(FamilyRefusal) -> ProviderReply

    init(
        _ endpoint: SandboxEndpoint,
        _ answer: @escaping (ProviderCall, CallNote) throws(FamilyRefusal) -> ProviderReply
    ) {
        self.endpoint = endpoint
        self.answer = answer
    }
}

extension GrantFamily {
    var needsProofKey: Bool { false }

    var baseURL: String { "\(service.address.baseURL)/\(name)" }

    func endpoint(method: String, path: String) -> SandboxEndpoint? {
        route(method, path)?.endpoint
    }

    func idToken(
        _ ticket: GrantBook.Ticket,
        subject: String,
        accessToken: String?,
        issuedSeconds: Int64
    ) throws -> String? {
        nil
    }

    /// The provider tells no application.
    func happen(
        _ order: SandboxOrder.Withdrawal,
        to key: GrantBook.Key,
        client: RegisteredClient
    ) throws -> SandboxNotification? {
        service.changed { $0.book.cut(key) }
        return nil
    }

    func givesCode(_ realm: String?) -> Bool { true }

    func keep(_ tokens: TokenSet, in state: inout State, _ ticket: GrantBook.Ticket) -> String? {
        nil
    }

    /// The parts of a path after the family's name; `nil` when the path is another family's.
    func parts(_ path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 2, parts[0].isEmpty, parts[1] == name else { return nil }
        return Array(parts[2...])
    }

    func answer(_ call: ProviderCall) -> ProviderReply {
        let note = note(call)
        do throws(FamilyRefusal) {
            guard let route = route(call.method, call.path) else {
                throw .internalError
            }
            return try route.answer(call, note)
        } catch {
            if !error.isRecorded {
                service.record(note, .refused, status: error.reply.status, error: error.code)
            }
            return error.reply
        }
    }

    func recordSkipped(_ call: ProviderCall, status: Int) {
        service.record(note(call), .none, status: status)
    }

    /// A route to something that depends on no grant.
    func document(_ value: @autoclosure @escaping () -> JSON) -> FamilyRoute {
        FamilyRoute(.discovery) { _, note throws(FamilyRefusal) in hand(value(), note) }
    }

    /// Answers with something that depends on no grant.
    func hand(_ value: JSON, _ note: CallNote) -> ProviderReply {
        service.record(note, .served, status: 200)
        return .json(value)
    }

    /// Answers with the public keys (RFC 7517 §5).
    func handKeys(_ call: ProviderCall, _ note: CallNote) throws(FamilyRefusal) -> ProviderReply {
        let body: [UInt8]
        do {
            body = try signingKeys.published()
        } catch {
            throw .internalError
        }
        service.record(note, .served, status: 200)
        return ProviderReply(status: 200, contentType: "application/json", body: body)
    }

    /// The id token that comes with fresh tokens.
    func idToken(
        _ ticket: GrantBook.Ticket,
        accessToken: String
    ) throws(FamilyRefusal) -> String? {
        do {
            return try idToken(
                ticket,
                subject: service.read { $0.book.subject(of: ticket) },
                accessToken: accessToken,
                issuedSeconds: service.clock.nowSeconds
            )
        } catch {
            throw .internalError
        }
    }
}

extension GrantFamily {
    func register(_ registration: ClientRegistration) throws(SandboxError) {
        try clients.register(registration)
    }

    func clientList() -> [SandboxClient] {
        clients.listing(provider: name, baseURL: baseURL)
    }

    func rotateKeys(withdrawingOld: Bool) throws -> [String] {
        let kids = try signingKeys.rotate()
        return withdrawingOld ? signingKeys.withdrawOldKeys() : kids
    }

    func signIn(_ order: SandboxOrder.SignIn) throws -> SandboxSignIn {
        let client = try clients.client(order.clientID)
        let key = try grantKey(user: order.user, client: client, realm: order.realm)
        let subject = subject(of: key)
        let issued = try order.issuedSeconds(now: service.clock.nowSeconds)
        let nonce = order.nonce ?? TokenGenerator.text()
        var verifier: String?
        let givesCode = givesCode(order.realm)
        if givesCode, order.codeChallenge == nil, needsProofKey || client.authentication == .none {
            verifier = TokenGenerator.text()
        }
        let challenge = order.codeChallenge ?? verifier.map { ProofKey.challenge(of: $0) }
        let code = TokenGenerator.text()
        let ticket = try service.change { state throws(SandboxError) in
            let ticket = try state.book.authorize(
                key,
                subject: subject,
                clientID: client.id,
                scope: order.scope ?? defaultScope,
                nonce: nonce
            )
            state.renew(key)
            guard givesCode else { return ticket }
            let entry = GrantBook.Code(
                ticket: ticket,
                redirectURI: order.redirectURI,
                proofKey: challenge.map { ProofKey(challenge: $0) },
                expiresSeconds: issued + codeLifetimeSeconds
            )
            state.book.add(entry, as: TokenDigest(code))
            return ticket
        }
        let idToken = try idToken(
            ticket,
            subject: subject,
            accessToken: nil,
            issuedSeconds: issued
        )
        return SandboxSignIn(
            code: givesCode ? code : nil,
            codeVerifier: verifier,
            idToken: idToken,
            subject: subject,
            rawNonce: nonce
        )
    }

    func issueTokens(_ order: SandboxOrder.Tokens) throws -> [SandboxToken] {
        // Bounded, since one answer carries them all.
        guard (1...100_000).contains(order.count) else {
            throw SandboxError(.badRequest, cannot: "issue tokens", at: "count")
        }
        let client = try clients.client(order.clientID)
        let scope = order.scope ?? defaultScope
        let issued = service.clock.nowSeconds - (order.ageSeconds ?? 0)
        return try service.change { state throws(SandboxError) in
            var tokens: [SandboxToken] = []
            for number in 1...order.count {
                let user = "\(order.userPrefix ?? "user-")\(number)"
                let key = try grantKey(user: user, client: client, realm: order.realm)
                let ticket = try state.book.authorize(
                    key,
                    subject: subject(of: key),
                    clientID: client.id,
                    scope: scope
                )
                state.renew(key)
                let rules = rules(for: client, ticket)
                let made = state.book.makeTokens(ticket, by: rules, now: issued)
                tokens.append(
                    SandboxToken(
                        user: user,
                        subject: state.book.subject(of: ticket),
                        accessToken: made.access,
                        refreshToken: made.refresh,
                        tokenSecret: keep(made, in: &state, ticket)
                    )
                )
            }
            return tokens
        }
    }

    func withdraw(_ order: SandboxOrder.Withdrawal) throws -> SandboxNotification? {
        let client = try clients.client(order.clientID)
        let key = try grantKey(user: order.user, client: client, realm: order.realm)
        guard service.read({ $0.book.grants[key] != nil }) else {
            throw SandboxError(
                .badRequest,
                cannot: "withdraw consent",
                at: client.id,
                cause: "never signed in"
            )
        }
        return try happen(order, to: key, client: client)
    }

    func usersWithTokens() -> Set<String> { service.read { $0.book.usersWithTokens } }

    func grants(user: String?) -> [SandboxGrant] {
        let (grants, tokens) = service.read { ($0.book.grants, $0.book.liveTokenCounts) }
        return grants.filter { user == nil || $0.key.user == user }
            .map { key, grant in
                SandboxGrant(
                    user: key.user,
                    subject: grant.subject,
                    audience: key.audience,
                    state: grant.isLive ? .live : .revoked,
                    liveTokens: tokens[key, default: 0]
                )
            }
            .sorted { ($0.user, $0.audience) < ($1.user, $1.audience) }
    }
}
