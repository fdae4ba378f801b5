import FoundationEssentials

/// Plays `github.com/login/oauth` and `api.github.com`.
///
/// Sources: docs.github.com, "OAuth applications" of the REST reference, "Refreshing user access
/// tokens", "Troubleshooting OAuth app access token request errors" and "Getting started with the
/// REST API" (`User-Agent`).
final class GitHubFamily: GrantFamily {
    struct State: GrantState {
        var book: GrantBook
    }

    private struct Body: Decodable {
        let accessToken: String

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
        }
    }

    let name = "github"
    let service: GrantService<State>
    let clients: ClientRegistry
    let signingKeys = SigningKeys(family: "github")
    let configuration: GitHubConfiguration
    /// Ten minutes, as posters report; GitHub does not say.
    let codeLifetimeSeconds: Int64 = 600
    let defaultScope = "read:user"

    init(_ configuration: GitHubConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        clients = try ClientRegistry(configuration.clients)
        service = GrantService(tools, state: State(book: GrantBook(capacity: tools.capacity)))
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        guard let parts = parts(path) else { return nil }
        if parts.count == 3, parts[0] == "applications" {
            let clientID = parts[1]
            return switch (method, parts[2]) {
            case ("DELETE", let what) where what == "grant" || what == "token":
                api(.revoke) { call, note throws(FamilyRefusal) in
                    try self.answerDeletion(call, note, clientID, isGrant: what == "grant")
                }
            case ("POST", "token"):
                api(.check) { call, note throws(FamilyRefusal) in
                    try self.answerCheck(call, note, clientID)
                }
            default: nil
            }
        }
        return switch (method, parts) {
        case ("POST", ["login", "oauth", "access_token"]): FamilyRoute(.token, answerToken)
        case ("GET", ["user"]): api(.check, answerUser)
        default: nil
        }
    }

    /// The REST API serves nobody without a `User-Agent`.
    private func api(
        _ endpoint: SandboxEndpoint,
        _ answer: @escaping (ProviderCall, CallNote) throws(FamilyRefusal) -> ProviderReply
    ) -> FamilyRoute {
        FamilyRoute(endpoint) { call, note throws(FamilyRefusal) in
            guard call.header("user-agent") != nil else {
                throw Self.api("Request forbidden by administrative rules.", status: 403)
            }
            return try answer(call, note)
        }
    }

    func note(_ call: ProviderCall) -> CallNote {
        let form = call.form
        return CallNote(
            name,
            call,
            grantType: form["grant_type"],
            clientID: BasicCredentials(call.authorization)?.name ?? form["client_id"],
            token: form["code"] ?? form["refresh_token"] ?? accessToken(call) ?? call.bearer
        )
    }

    func grantKey(user: String, client: RegisteredClient, realm: String?) -> GrantBook.Key {
        GrantBook.Key(user: user, audience: client.id)
    }

    /// A number, the same for every application.
    func subject(of key: GrantBook.Key) -> String {
        let digits = TokenDigest.hexadecimal("github/\(key.user)").utf8.prefix(8)
        return "1" + digits.map { String(Int($0) % 10) }.joined()
    }

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        guard client.registration.kind == .gitHubApp else {
            return TokenRules(accessPrefix: "gho_")
        }
        // Eight hours and six months.
        return TokenRules(
            accessPrefix: "ghu_",
            accessLifetimeSeconds: 28_800,
            refreshPrefix: "ghr_",
            refreshLifetimeSeconds: 15_897_600
        )
    }

    /// `github_app_authorization`; OAuth apps are told nothing.
    func happen(
        _ order: SandboxOrder.Withdrawal,
        to key: GrantBook.Key,
        client: RegisteredClient
    ) throws -> SandboxNotification? {
        guard order.event ?? "revoked" == "revoked" else {
            throw SandboxError(
                .badRequest,
                cannot: "make notification",
                at: "event",
                cause: "there is: revoked"
            )
        }
        let subject = service.changed { state in
            state.book.cut(key)
            return state.book.grants[key]?.subject ?? ""
        }
        guard client.registration.kind == .gitHubApp else { return nil }
        let body: JSON = [
            "action": "revoked",
            "sender": [
                "login": .text(key.user), "id": .integer(Int64(subject) ?? 0), "type": "User",
            ],
        ]
        let signature = MessageCode.sha256(
            key: Array((client.secret ?? "").utf8),
            message: body.bytes
        )
        return SandboxNotification(
            contentType: "application/json",
            headers: [
                "x-github-event": "github_app_authorization",
                "x-github-delivery": UUID().uuidString.lowercased(),
                "x-hub-signature-256": "sha256=\(TokenDigest.hexadecimal(signature))",
            ],
            body: String(decoding: body.bytes, as: UTF8.self)
        )
    }

    /// A secondary rate limit is 403, not 429.
    func throttled(retryAfterSeconds: Int) -> ProviderReply {
        var reply = Self.api("You have exceeded a secondary rate limit.", status: 403).reply
        reply.retryAfterSeconds = retryAfterSeconds
        return reply
    }

    /// An error of the REST API.
    static func api(_ message: String, status: Int) -> FamilyRefusal {
        let body: JSON = ["message": .text(message), "status": .text("\(status)")]
        return FamilyRefusal("\(status)", .json(body, status: status))
    }

    /// The token of a JSON body; `nil` when there is none.
    func accessToken(_ call: ProviderCall) -> String? {
        do {
            return try JSONDecoder().decode(Body.self, from: Data(call.body)).accessToken
        } catch {
            return nil
        }
    }
}
