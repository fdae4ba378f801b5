import Cryptography
import Encoding

/// How the sandbox plays X.
package struct XConfiguration: Sendable {
    /// The applications at the start; the id of the third is the consumer key of OAuth 1.0a.
    package var clients: [ClientRegistration] = [
        ClientRegistration("x-client", secret: "x-secret"), ClientRegistration("x-public"),
        ClientRegistration("x-consumer", secret: "x-consumer-secret"),
    ]
    /// Whether a revoke of an unknown or dead token is refused; X does not document it.
    package var refusesUnknownTokens = false

    package init() {}
}

/// Plays `api.x.com`: OAuth 2 with PKCE and OAuth 1.0a.
///
/// Sources: docs.x.com, "OAuth 2.0 Authorization Code Flow with PKCE", and developer.x.com,
/// "POST oauth/invalidate_token" and "Response codes".
final class XFamily: GrantFamily {
    struct State: GrantState {
        var book: GrantBook
        /// The secrets of OAuth 1.0a tokens, which signatures are checked with.
        var secrets: BoundedTable<TokenDigest, String>
        /// What OAuth 1.0a calls may bring once only.
        var nonces: BoundedTable<TokenDigest, Bool>
    }

    /// The realm of OAuth 1.0a.
    static let oauth1 = "oauth1"

    let service: GrantService<State>
    let configuration: XConfiguration
    /// Half a minute, as posters report; X does not say.
    let codeLifetimeSeconds: Int64 = 30
    let needsProofKey = true
    let ownRealm: String? = XFamily.oauth1
    let defaultScope = "tweet.read users.read offline.access"

    init(_ configuration: XConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        service = try GrantService(
            .x,
            tools,
            configuration.clients,
            State(
                book: tools.book,
                secrets: BoundedTable(capacity: tools.capacity),
                nonces: BoundedTable(capacity: tools.capacity)
            )
        )
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        switch (method, parts(path)) {
        case ("POST", ["2", "oauth2", "token"]): FamilyRoute(.token, answerToken)
        case ("POST", ["2", "oauth2", "revoke"]): FamilyRoute(.revoke, answerRevoke)
        case ("GET", ["2", "users", "me"]): FamilyRoute(.check, answerMe)
        case ("POST", ["1.1", "oauth", "invalidate_token.json"]):
            FamilyRoute(.revoke, answerInvalidate)
        case ("GET", ["1.1", "account", "verify_credentials.json"]):
            FamilyRoute(.check, answerVerify)
        default: nil
        }
    }

    /// A number, the same for every application.
    func subject(of key: GrantBook.Key) -> String {
        "1" + TokenDigest.digits(of: "x/\(key.user)", count: 17)
    }

    /// Two hours; a refresh token, for six months, only with `offline.access`.
    ///
    /// OAuth 1.0a tokens have no end.
    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        if ticket.grant.audience.hasSuffix("/\(Self.oauth1)") {
            return TokenRules(accessPrefix: "\(subject(of: ticket.grant))-")
        }
        return TokenRules(
            accessPrefix: "",
            accessLifetimeSeconds: 7200,
            refreshPrefix: ticket.has(scope: "offline.access") ? "" : nil,
            refreshLifetimeSeconds: 183 * 86_400
        )
    }

    func keep(_ tokens: TokenSet, in state: inout State, _ ticket: GrantBook.Ticket) -> String? {
        guard ticket.grant.audience.hasSuffix("/\(Self.oauth1)") else { return nil }
        let secret = TokenGenerator.text()
        state.secrets.insert(secret, for: TokenDigest(tokens.access))
        return secret
    }
}

extension XFamily {
    private static let invalidToken = FamilyRefusal.oauth(
        "invalid_request",
        "Value passed for the token was invalid."
    )

    private static func missing(_ parameter: String) -> FamilyRefusal {
        .oauth("invalid_request", "Missing required parameter [\(parameter)].")
    }

    // MARK: - OAuth 2

    func answerToken(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        let tokens = try makeTokens(
            call,
            client,
            for: call.form["grant_type"],
            missing: Self.missing,
            unsupported: Self.missing("grant_type"),
            refusing: { _, _ in
                .oauth("invalid_request", "Value passed for the authorization code was invalid.")
            },
            // Single use.
            renewing: { text, state, now throws(FamilyRefusal) in
                guard let token = state.book.live(text, .refresh, of: client.id, now: now) else {
                    throw Self.invalidToken
                }
                state.book.kill(TokenDigest(text))
                return token.ticket
            }
        )
        return .json([
            "token_type": "bearer", "expires_in": 7200, "access_token": .string(tokens.access),
            "refresh_token": JSONValue(tokens.refresh),
        ])
    }

    /// Ends one token and nothing else.
    func answerRevoke(_ call: Call) throws(FamilyRefusal) -> Reply {
        let client = try authenticate(call)
        guard let text = call.form["token"] else { throw Self.missing("token") }
        return try service.perform(call) { state, now throws(FamilyRefusal) in
            let success = Reply.json(["revoked": true])
            guard let token = state.book.live(text, now: now) else {
                guard !configuration.refusesUnknownTokens else { throw Self.invalidToken }
                return (success, .ignored)
            }
            guard token.ticket.clientID == client.id else { throw Self.invalidToken }
            state.book.kill(TokenDigest(text))
            return (success, .revoked)
        }
    }

    func answerMe(_ call: Call) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(call.bearer ?? "", .access, now: now) else {
                let body: JSONValue = [
                    "title": "Unauthorized", "status": 401, "detail": "Unauthorized",
                ]
                throw FamilyRefusal("unauthorized", .json(body, status: 401))
            }
            let user: JSONValue = [
                "id": .string(state.book.subject(of: token.ticket)), "name": "Sandbox User",
                "username": .string(token.ticket.grant.user),
            ]
            return (.json(["data": user]), .checked)
        }
    }

    /// Confidential clients come with Basic, public ones with their id in the form.
    private func authenticate(_ call: Call) throws(FamilyRefusal) -> RegisteredClient {
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

    // MARK: - OAuth 1.0a

    func answerInvalidate(_ call: Call) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            let (text, _) = try signer(of: call, in: &state, now: now)
            state.book.kill(TokenDigest(text))
            return (.json(["access_token": .string(text)]), .revoked)
        }
    }

    func answerVerify(_ call: Call) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            let (_, token) = try signer(of: call, in: &state, now: now)
            let body: JSONValue = [
                "id_str": .string(state.book.subject(of: token.ticket)),
                "screen_name": .string(token.ticket.grant.user),
            ]
            return (.json(body), .checked)
        }
    }

    private func signer(
        of call: Call,
        in state: inout State,
        now: Int64
    ) throws(FamilyRefusal) -> (text: String, token: GrantBook.Token) {
        let unproven = Self.errors(32, "Could not authenticate you.")
        guard let signed = SignedCall(call), let client = clients[signed.consumerKey],
            let consumerSecret = client.secret, let nonce = signed.nonce,
            let timestamp = signed.timestamp
        else { throw unproven }
        guard abs(timestamp - now) <= 300 else {
            throw Self.errors(135, "Timestamp out of bounds.")
        }
        let dead = Self.errors(89, "Invalid or expired token.")
        guard let text = signed.token, let secret = state.secrets[TokenDigest(text)],
            let token = state.book.token(TokenDigest(text)), token.ticket.clientID == client.id
        else { throw dead }
        guard signed.isSigned(consumerSecret: consumerSecret, tokenSecret: secret) else {
            throw unproven
        }
        let once = TokenDigest("\(client.id)\n\(text)\n\(timestamp)\n\(nonce)")
        guard state.nonces[once] == nil else { throw unproven }
        state.nonces.insert(true, for: once)
        guard state.book.standing(token, now: now) == .live else { throw dead }
        return (text, token)
    }

    /// An error of the 1.1 API.
    private static func errors(_ code: Int64, _ message: String) -> FamilyRefusal {
        let body: JSONValue = ["errors": [["code": .integer(code), "message": .string(message)]]]
        return FamilyRefusal("\(code)", .json(body, status: 401))
    }
}

/// The `OAuth` authorization header of OAuth 1.0a (RFC 5849 §3.5.1), with what it was made over.
struct SignedCall: Sendable {
    private let parameters: [String: String]
    private let call: Call

    /// Takes the header apart; `nil` when it is missing or something else.
    init?(_ call: Call) {
        guard let header = call.authorization, header.lowercased().hasPrefix("oauth ") else {
            return nil
        }
        var parameters: [String: String] = [:]
        for part in header.dropFirst(6).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            let value = pair[1].drop { $0 == "\"" || $0 == " " }.prefix { $0 != "\"" }
            let name = pair[0].filter { $0 != " " }
            parameters[name] = ParsedForm.decoded(String(value))
        }
        (self.parameters, self.call) = (parameters, call)
    }

    var consumerKey: String? { parameters["oauth_consumer_key"] }
    var token: String? { parameters["oauth_token"] }
    var nonce: String? { parameters["oauth_nonce"] }
    var timestamp: Int64? { parameters["oauth_timestamp"].flatMap { Int64($0) } }

    /// Tells whether the signature is HMAC-SHA1 over this very call (RFC 5849 §3.4).
    func isSigned(consumerSecret: String, tokenSecret: String) -> Bool {
        guard parameters["oauth_signature_method"] == "HMAC-SHA1",
            let signature = parameters["oauth_signature"]
        else { return false }
        let key = "\(PercentEncoding.encode(consumerSecret))&\(PercentEncoding.encode(tokenSecret))"
        let code = KeyedHash.sha1(key: Array(key.utf8), message: Array(baseString.utf8))
        return Base64.text(code) == signature
    }

    /// Method, address and sorted parameters (RFC 5849 §3.4.1).
    private var baseString: String {
        var pairs = parameters.filter { $0.key != "oauth_signature" && $0.key != "realm" }
            .map { (PercentEncoding.encode($0.key), PercentEncoding.encode($0.value)) }
        for (name, value) in call.query.pairs + call.form.pairs {
            pairs.append((PercentEncoding.encode(name), PercentEncoding.encode(value)))
        }
        let text = pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        let host = call.header("host") ?? ""
        let address = "https://\(host.lowercased())\(call.path)"
        return "\(call.method)&\(PercentEncoding.encode(address))&\(PercentEncoding.encode(text))"
    }
}
