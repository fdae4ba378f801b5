import Encoding
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
        service = GrantService(name, tools, state: State(book: GrantBook(capacity: tools.capacity)))
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        guard let parts = parts(path) else { return nil }
        if parts.count == 3, parts[0] == "applications" {
            let clientID = parts[1]
            return switch (method, parts[2]) {
            case ("DELETE", let what) where what == "grant" || what == "token":
                api(.revoke) { call throws(FamilyRefusal) in
                    try self.answerDeletion(call, clientID, isGrant: what == "grant")
                }
            case ("POST", "token"):
                api(.check) { call throws(FamilyRefusal) in
                    try self.answerCheck(call, clientID)
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
        _ answer: @escaping FamilyRoute.Answer
    ) -> FamilyRoute {
        FamilyRoute(endpoint) { call throws(FamilyRefusal) in
            guard call.header("user-agent") != nil else {
                throw Self.api("Request forbidden by administrative rules.", status: 403)
            }
            return try answer(call)
        }
    }

    func note(_ call: ProviderCall) -> CallNote {
        let form = call.form
        return CallNote(
            grantType: form["grant_type"],
            clientID: BasicCredentials(call.authorization)?.name ?? form["client_id"],
            token: form["code"] ?? form["refresh_token"] ?? Self.accessToken(call) ?? call.bearer
        )
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
        _ = try order.event(of: SandboxProvider.github.events)
        let subject = service.cut(key)
        guard client.registration.kind == .gitHubApp else { return nil }
        let body: JSONValue = [
            "action": "revoked",
            "sender": [
                "login": .string(key.user), "id": .integer(Int64(subject) ?? 0), "type": "User",
            ],
        ]
        let signature = client.sign(Array(body.compactText.utf8))
        return SandboxNotification(
            contentType: "application/json",
            headers: [
                "x-github-event": "github_app_authorization",
                "x-github-delivery": UUID().uuidString.lowercased(),
                "x-hub-signature-256": "sha256=\(Hexadecimal.text(signature))",
            ],
            body: body.compactText
        )
    }

    /// A secondary rate limit is 403, not 429.
    func throttled(retryAfterSeconds: Int) -> ProviderReply {
        var reply = Self.api("You have exceeded a secondary rate limit.", status: 403).reply
        reply.retryAfterSeconds = retryAfterSeconds
        return reply
    }

    static func api(_ message: String, status: Int) -> FamilyRefusal {
        let body: JSONValue = ["message": .string(message), "status": .string("\(status)")]
        return FamilyRefusal("\(status)", .json(body, status: status))
    }

    static func accessToken(_ call: ProviderCall) -> String? {
        call.json?["access_token"]?.string
    }
}
