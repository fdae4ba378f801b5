import Encoding
import FoundationEssentials

/// How the sandbox plays GitHub.
package struct GitHubConfiguration: Sendable {
    /// What wrong client credentials answer; GitHub does not document it.
    package enum BadCredentials: String, CaseIterable, Sendable {
        /// 404, as if there were nothing to delete: the trap.
        case notFound = "not-found"
        case unauthorized
    }

    /// The applications that are registered at the start, one of each kind.
    package var clients: [ClientRegistration] = {
        let oauthApp = ClientRegistration("Ov23liSandboxOAuthApp", secret: "github-secret")
        var gitHubApp = ClientRegistration("Iv23liSandboxGitHub", secret: "github-app-secret")
        gitHubApp.kind = .gitHubApp
        return [oauthApp, gitHubApp]
    }()
    package var badCredentials = BadCredentials.notFound

    package init() {}
}

/// Plays `github.com/login/oauth` and `api.github.com`.
///
/// Sources: docs.github.com, "OAuth applications" of the REST reference, "Refreshing user access
/// tokens", "Troubleshooting OAuth app access token request errors" and "Getting started with the
/// REST API" (`User-Agent`).
final class GitHubFamily: GrantFamily {
    let service: GrantService<BookState>
    let configuration: GitHubConfiguration
    let defaultScope = "read:user"

    init(_ configuration: GitHubConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        service = try GrantService(.github, tools, configuration.clients, tools.state)
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
                api(.check) { call throws(FamilyRefusal) in try self.answerCheck(call, clientID) }
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

    /// A number, the same for every application.
    func subject(of key: GrantBook.Key) -> String {
        "1" + TokenDigest.digits(of: "github/\(key.user)", count: 8)
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
    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification? {
        _ = try withdrawal.order.event(of: SandboxProvider.github.events)
        let subject = service.cut(withdrawal.key)
        guard withdrawal.client.registration.kind == .gitHubApp else { return nil }
        let body: JSONValue = [
            "action": "revoked",
            "sender": [
                "login": .string(withdrawal.key.user), "id": .integer(Int64(subject) ?? 0),
                "type": "User",
            ],
        ]
        let signature = withdrawal.client.sign(Array(body.compactText.utf8))
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
    func throttled(retryAfterSeconds: Int) -> Reply {
        var reply = Self.api("You have exceeded a secondary rate limit.", status: 403).reply
        reply.retryAfterSeconds = retryAfterSeconds
        return reply
    }

    static func api(_ message: String, status: Int) -> FamilyRefusal {
        let body: JSONValue = ["message": .string(message), "status": .string("\(status)")]
        return FamilyRefusal("\(status)", .json(body, status: status))
    }
}

extension GitHubFamily {
    // MARK: - github.com

    /// Errors are 200 too, and everything is a form unless the caller accepts JSON.
    func answerToken(_ call: Call) throws(FamilyRefusal) -> Reply {
        func refusal(_ error: String, _ description: String) -> FamilyRefusal {
            let body: JSONValue = [
                "error": .string(error), "error_description": .string(description),
                "error_uri": "https://docs.github.com/apps",
            ]
            return FamilyRefusal(error, Self.reply(body, call))
        }
        let form = call.form
        guard let client = clients[form["client_id"]], client.has(secret: form["client_secret"])
        else {
            throw refusal(
                "incorrect_client_credentials",
                "The client_id and/or client_secret passed are incorrect."
            )
        }
        let badCode = refusal("bad_verification_code", "The code passed is incorrect or expired.")
        let badToken = refusal(
            "bad_refresh_token",
            "The refresh token passed is incorrect or expired."
        )
        let tokens = try makeTokens(
            call,
            client,
            for: form["grant_type"] ?? "authorization_code",
            missing: { $0 == "code" ? badCode : badToken },
            unsupported: refusal("unsupported_grant_type", "The grant type is not supported."),
            refusing: { failure, _ in
                guard case .redirect = failure else { return badCode }
                return refusal(
                    "redirect_uri_mismatch",
                    "The redirect_uri is not associated with this application."
                )
            },
            // A refresh ends the tokens that it replaces, the access token too.
            renewing: { text, state, now throws(FamilyRefusal) in
                guard let token = state.book.live(text, .refresh, of: client.id, now: now) else {
                    throw badToken
                }
                return state.book.replace(token.ticket)
            }
        )
        let end = tokens.rules.refreshLifetimeSeconds ?? 0
        let body: JSONValue = [
            "access_token": .string(tokens.access),
            "expires_in": tokens.rules.accessLifetimeSeconds.map { .integer($0) },
            "refresh_token": JSONValue(tokens.refresh),
            "refresh_token_expires_in": tokens.refresh == nil ? nil : .integer(end),
            "token_type": "bearer",
            // GitHub Apps have permissions, no scopes.
            "scope": .string(tokens.refresh == nil ? tokens.ticket.scope : ""),
        ]
        return Self.reply(body, call)
    }

    private static func reply(_ body: JSONValue, _ call: Call) -> Reply {
        guard call.header("accept")?.contains("application/json") != true,
            case .object(let members) = body
        else { return .json(body) }
        let form = members.map { member in
            let text = member.value.string.map(PercentEncoding.encode)
            return "\(member.name)=\(text ?? member.value.compactText)"
        }
        return Reply(
            status: 200,
            contentType: "application/x-www-form-urlencoded; charset=utf-8",
            body: Array(form.joined(separator: "&").utf8)
        )
    }

    // MARK: - api.github.com

    /// Deletes one token, or the grant with all of them; the token must be live.
    func answerDeletion(
        _ call: Call,
        _ clientID: String,
        isGrant: Bool
    ) throws(FamilyRefusal) -> Reply {
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
            return (Reply(status: 204), .revoked)
        }
    }

    func answerCheck(_ call: Call, _ clientID: String) throws(FamilyRefusal) -> Reply {
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

    func answerUser(_ call: Call) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, now throws(FamilyRefusal) in
            guard let token = state.book.live(call.bearer ?? "", .access, now: now) else {
                throw Self.api("Bad credentials", status: 401)
            }
            return (.json(Self.user(token, in: state)), .checked)
        }
    }

    private static func user(_ token: GrantBook.Token, in state: BookState) -> JSONValue {
        let number = Int64(state.book.subject(of: token.ticket)) ?? 0
        return ["login": .string(token.ticket.grant.user), "id": .integer(number)]
    }

    private static let notFound = api("Not Found", status: 404)

    private func authenticate(_ call: Call, _ clientID: String) throws(FamilyRefusal) -> String {
        let basic = BasicCredentials(call.authorization)
        guard let client = clients[clientID], basic?.name == clientID,
            client.has(secret: basic?.password)
        else {
            throw configuration.badCredentials == .notFound
                ? Self.notFound : Self.api("Bad credentials", status: 401)
        }
        guard let text = call.json?["access_token"]?.string else {
            throw Self.api("Validation Failed", status: 422)
        }
        return text
    }
}
