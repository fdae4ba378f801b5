import Encoding

/// A family whose grants are in a ``GrantBook``: every identity provider.
protocol GrantFamily: ProviderFamily {
    associatedtype State: GrantState

    var service: GrantService<State> { get }
    var baseURL: String { get }
    var codeLifetimeSeconds: Int64 { get }
    /// Whether a code is given to clients with a PKCE challenge only.
    var needsProofKey: Bool { get }
    /// Whether an empty redirect URI is one; else it is as if left out (RFC 6749 §3.1).
    var takesEmptyRedirectURI: Bool { get }
    /// A realm with grants of its own, whose sign-ins give no code; `nil` where there is none.
    var ownRealm: String? { get }
    /// The scope of a sign-in that names none.
    var defaultScope: String { get }

    func note(_ call: Call) -> CallNote

    func route(_ method: String, _ path: String) -> FamilyRoute?

    func grantKey(
        user: String,
        client: RegisteredClient,
        realm: String?
    ) throws(SandboxError) -> GrantBook.Key

    func subject(of key: GrantBook.Key) -> String

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules

    /// Adds what the family keeps for tokens that were made without a sign-in.
    ///
    /// - Returns: The secret of an OAuth 1.0a token.
    func keep(_ tokens: TokenSet, in state: inout State, _ ticket: GrantBook.Ticket) -> String?

    /// The id token of a sign-in; `nil` when the provider has none.
    func idToken(_ order: IDTokenOrder) throws -> String?

    /// What the provider sends about it, and its effect.
    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification?
}

extension GrantFamily {
    var name: String { service.name }
    var clients: ClientRegistry { service.clients }
    var signingKeys: SigningKeys { service.signingKeys }
    /// RFC 6749 §4.1.2 recommends ten minutes at most; most vendors say less, or nothing.
    var codeLifetimeSeconds: Int64 { 600 }
    var needsProofKey: Bool { false }
    var takesEmptyRedirectURI: Bool { false }
    var ownRealm: String? { nil }

    var baseURL: String { "\(service.address.baseURL)/\(name)" }

    func endpoint(method: String, path: String) -> SandboxEndpoint? {
        route(method, path)?.endpoint
    }

    func note(_ call: Call) -> CallNote {
        let form = call.form
        let signed = SignedCall(call)
        let tokens: [String?] = [
            signed?.token, call.query["token"], form["token"], form["code"],
            form["refresh_token"], call.json?["access_token"]?.string, call.bearer,
        ]
        return CallNote(
            grantType: form["grant_type"],
            clientID: signed?.consumerKey ?? form["client_id"]
                ?? BasicCredentials(call.authorization)?.name ?? PresentedAssertion(form)?.clientID,
            token: tokens.compactMap(\.self).first
        )
    }

    /// One grant for all clients of a project or a team: what such a provider cuts as a whole.
    func grantKey(user: String, client: RegisteredClient, realm: String?) -> GrantBook.Key {
        let audience = client.registration.project ?? client.id
        guard let realm, realm == ownRealm else {
            return GrantBook.Key(user: user, audience: audience)
        }
        return GrantBook.Key(user: user, audience: "\(audience)/\(realm)")
    }

    func idToken(_ order: IDTokenOrder) throws -> String? { nil }

    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification? {
        _ = service.cut(withdrawal.key)
        return nil
    }

    func keep(_ tokens: TokenSet, in state: inout State, _ ticket: GrantBook.Ticket) -> String? {
        nil
    }

    /// The parts of a path after the family's name; `nil` when the path is another family's.
    func parts(_ path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 2, parts[0].isEmpty, parts[1] == name else { return nil }
        return Array(parts[2...])
    }

    func answer(_ call: Call) -> Reply { serve(call) }

    func serve(_ call: Call) -> Reply {
        var call = call
        call.note = note(call)
        do throws(FamilyRefusal) {
            guard let route = route(call.method, call.path) else { throw .internalError }
            return try route.answer(call)
        } catch {
            if !error.isRecorded {
                service.record(call, .refused, status: error.reply.status, error: error.code)
            }
            return error.reply
        }
    }

    func recordSkipped(_ call: Call, status: Int) {
        var call = call
        call.note = note(call)
        service.record(call, .none, status: status)
    }

    /// A route to something that depends on no grant.
    func document(_ value: @autoclosure @escaping () -> JSONValue) -> FamilyRoute {
        FamilyRoute(.discovery) { call throws(FamilyRefusal) in hand(value(), call) }
    }

    func hand(_ value: JSONValue, _ call: Call) -> Reply {
        service.record(call, .served, status: 200)
        return .json(value)
    }

    func handKeys(_ call: Call) throws(FamilyRefusal) -> Reply {
        do {
            return hand(try signingKeys.published(), call)
        } catch {
            throw .internalError
        }
    }

    /// The token endpoint (RFC 6749 §3.2): turns a code or a refresh token into tokens.
    ///
    /// `renew` finds the sign-in of a refresh token; a new one comes along if it is to `rotate`.
    func makeTokens(
        _ call: Call,
        _ client: RegisteredClient,
        for grantType: String?,
        in fields: ParsedForm? = nil,
        rotate: Bool = true,
        missing: (String) -> FamilyRefusal = { _ in .invalidRequest },
        unsupported: FamilyRefusal = .oauth("unsupported_grant_type"),
        checking check: (GrantBook.Ticket, State) throws(FamilyRefusal) -> Void = { _, _ in },
        refusing refuse: (GrantBook.CodeFailure, inout State) -> FamilyRefusal,
        renewing renew: (String, inout State, Int64) throws(FamilyRefusal) -> GrantBook.Ticket
    ) throws(FamilyRefusal) -> TokenSet {
        guard let grantType else { throw missing("grant_type") }
        let isCode = grantType == "authorization_code"
        guard isCode || grantType == "refresh_token" else { throw unsupported }
        let fields = fields ?? call.form
        let name = isCode ? "code" : "refresh_token"
        guard let text = fields[name] else { throw missing(name) }
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            let ticket: GrantBook.Ticket
            if isCode {
                do throws(GrantBook.CodeFailure) {
                    ticket = try state.book.redeem(
                        TokenDigest(text),
                        by: client.id,
                        redirectURI: fields["redirect_uri"]
                            ?? (takesEmptyRedirectURI && fields.isEmpty("redirect_uri") ? "" : nil),
                        verifier: fields["code_verifier"],
                        now: now
                    )
                } catch {
                    throw refuse(error, &state)
                }
                try check(ticket, state)
            } else {
                ticket = try renew(text, &state, now)
            }
            let rules = rules(for: client, ticket)
            return (
                state.book.makeTokens(ticket, by: rules, withRefresh: isCode || rotate, now: now),
                isCode ? .exchanged : .validated
            )
        }
    }

    /// The answer with fresh tokens (RFC 6749 §5.1).
    func answer(_ tokens: TokenSet, withIDToken: Bool = true) throws(FamilyRefusal) -> Reply {
        let scope = tokens.ticket.scope
        let idToken = try withIDToken ? idToken(tokens) : nil
        return .json([
            "access_token": .string(tokens.access), "token_type": "Bearer",
            "expires_in": tokens.rules.accessLifetimeSeconds.map { .integer($0) },
            "refresh_token": JSONValue(tokens.refresh), "id_token": JSONValue(idToken),
            "scope": scope.isEmpty ? nil : .string(scope),
        ])
    }

    func idToken(_ tokens: TokenSet) throws(FamilyRefusal) -> String? {
        do {
            return try idToken(
                IDTokenOrder(
                    ticket: tokens.ticket,
                    subject: service.read { $0.book.subject(of: tokens.ticket) },
                    accessToken: tokens.access,
                    issuedSeconds: service.clock.nowSeconds
                )
            )
        } catch {
            throw .internalError
        }
    }
}

/// A refusal that the service did not record is recorded by the caller.
struct FamilyRoute {
    typealias Answer = (Call) throws(FamilyRefusal) -> Reply

    let endpoint: SandboxEndpoint
    let answer: Answer

    init(_ endpoint: SandboxEndpoint, _ answer: @escaping Answer) {
        (self.endpoint, self.answer) = (endpoint, answer)
    }
}

struct GrantWithdrawal {
    let order: SandboxOrder.Withdrawal
    let key: GrantBook.Key
    let client: RegisteredClient
}

struct IDTokenOrder {
    let ticket: GrantBook.Ticket
    let subject: String
    /// The code or the access token that comes along.
    var code: String?
    var accessToken: String?
    let issuedSeconds: Int64
}

/// A provider's refusal: its answer, and its error code for the journal.
struct FamilyRefusal: Error, Sendable {
    let code: String
    let reply: Reply
    var isRecorded = false

    init(_ code: String, _ reply: Reply) {
        (self.code, self.reply) = (code, reply)
    }

    /// An error in the form of RFC 6749 §5.2.
    static func oauth(
        _ error: String,
        _ description: String? = nil,
        status: Int = 400
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": .string(error), "error_description": JSONValue(description),
        ]
        return FamilyRefusal(error, .json(body, status: status))
    }

    static let invalidRequest = oauth("invalid_request")

    /// What libcrypto's failure looks like from outside.
    static let internalError = FamilyRefusal("server_error", Reply(status: 500))
}
