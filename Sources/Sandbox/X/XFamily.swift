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

    let name = "x"
    let service: GrantService<State>
    let clients: ClientRegistry
    let signingKeys = SigningKeys(family: "x")
    let configuration: XConfiguration
    /// Half a minute, as posters report; X does not say.
    let codeLifetimeSeconds: Int64 = 30
    let needsProofKey = true
    let defaultScope = "tweet.read users.read offline.access"

    init(_ configuration: XConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        clients = try ClientRegistry(configuration.clients)
        service = GrantService(
            name,
            tools,
            state: State(
                book: GrantBook(capacity: tools.capacity),
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

    func note(_ call: ProviderCall) -> CallNote {
        let form = call.form
        let signature = SignedCall(call)
        return CallNote(
            grantType: form["grant_type"],
            clientID: signature?.consumerKey ?? form["client_id"]
                ?? BasicCredentials(call.authorization)?.name,
            token: signature?.token ?? form["token"] ?? form["code"] ?? form["refresh_token"]
                ?? call.bearer
        )
    }

    func grantKey(user: String, client: RegisteredClient, realm: String?) -> GrantBook.Key {
        let isOld = realm == Self.oauth1
        return GrantBook.Key(
            user: user,
            audience: isOld ? "\(client.id)/\(Self.oauth1)" : client.id
        )
    }

    func givesCode(_ realm: String?) -> Bool { realm != Self.oauth1 }

    /// A number, the same for every application.
    func subject(of key: GrantBook.Key) -> String {
        let digits = TokenDigest.hexadecimal("x/\(key.user)").utf8.prefix(17)
        return "1" + digits.map { String(Int($0) % 10) }.joined()
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
