import Engine
import Lifecycle
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import HTTP
@testable import Providers

/// Admin APIs that end what a user granted, without a token of the user.
@Suite("Revocation by the user's id")
struct OAuth2GrantTests {
    /// One server: what it is asked, and how it lists a grant of the client.
    struct Server: Sendable, CustomTestStringConvertible {
        let preset: String
        var scheme = "Bearer"
        let listed: String
        let reads: [String]
        let ends: [String]
        /// Whether an empty list proves that there is no grant.
        var isComplete = false

        var testDescription: String { preset }
    }

    /// The id of a user, as it must stand in a path and in a query.
    static let user = "auth0|u 1/.."
    static let encoded = "auth0%7Cu%201%2F.."

    static let servers = [
        Server(
            preset: "auth0",
            listed: #"[{"id":"g1","clientID":"app","user_id":"u","scope":["read"]}]"#,
            reads: ["GET /base/grants?user_id=\(encoded)&client_id=app"],
            ends: ["DELETE /base/grants?user_id=\(encoded)"]
        ),
        Server(
            preset: "hydra",
            listed: #"[{"consent_request":{"client":{"client_id":"app"}}}]"#,
            reads: ["GET /base/admin/oauth2/auth/sessions/consent?subject=\(encoded)"],
            ends: [
                "DELETE /base/admin/oauth2/auth/sessions/consent?subject=\(encoded)&client=app"
            ]
        ),
        Server(
            preset: "keycloak",
            listed: #"[{"clientId":"app","clients":{"0aa0":"other","0bb0":"app"}}]"#,
            reads: ["GET /base/users/\(encoded)/consents", "GET /base/users/\(encoded)/sessions"],
            ends: [
                "DELETE /base/users/\(encoded)/consents/app", "POST /base/users/\(encoded)/logout",
            ],
            isComplete: true
        ),
        Server(
            preset: "okta",
            scheme: "SSWS",
            listed: #"[{"id":"g0","status":"REVOKED"},{"id":"g1","status":"ACTIVE"}]"#,
            reads: [
                "GET /base/users/\(encoded)/clients/app/grants",
                "GET /base/users/\(encoded)/clients/app/tokens",
            ],
            ends: [
                "DELETE /base/users/\(encoded)/clients/app/grants",
                "DELETE /base/users/\(encoded)/clients/app/tokens",
            ]
        ),
    ]

    static func with(
        _ preset: String,
        admin: AdminAPI.Access = .token(Secret("admin-token")),
        react: @escaping @Sendable (String) -> RawServer.Reaction,
        body: (OAuth2Provider, RawServer) async throws -> Void
    ) async throws {
        let profile = try #require(OAuth2Profile.presets[preset])
        try await RawServer.with(react: react) { server in
            var settings = OAuth2Harness.at(server, profile)
            settings.profile.adminURL = FamilyHarness.url(server) + "/base"
            settings.admin = admin
            try await OAuth2Harness.with(settings) { try await body($0, server) }
        }
    }

    static func with(
        _ preset: String,
        answering reaction: RawServer.Reaction,
        body: (OAuth2Provider, RawServer) async throws -> Void
    ) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in reaction }
        try await with(preset, react: react, body: body)
    }

    static func subject() -> OpenCredential { OAuth2Harness.credential(.subject, user) }

    @Test("what is listed is ended, and is not listed any more", arguments: servers)
    func ended(_ played: Server) async throws {
        let isEnded = Mutex(false)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard !request.hasPrefix("GET ") else {
                return .json(200, isEnded.withLock { $0 } ? "[]" : played.listed)
            }
            isEnded.withLock { $0 = true }
            return .http(204)
        }
        try await Self.with(played.preset, react: react) { provider, server in
            #expect(provider.traits.extraKinds == [.subject])
            #expect(provider.traits.canCheckSubject)
            #expect(await provider.check(Self.subject()) == .live)
            #expect(await provider.revoke(Self.subject()) == .success)
            #expect(await provider.check(Self.subject()) == .dead)
            let lines = Set(server.requests.map { FamilyHarness.line($0) })
            #expect(lines == Set((played.reads + played.ends).map { $0 + " HTTP/1.1" }))
            let proof = "uthorization: \(played.scheme) admin-token"
            #expect(server.requests.allSatisfy { $0.contains(proof) })
        }
    }

    @Test("an empty list proves something where it names all grants", arguments: servers)
    func unlisted(_ played: Server) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("GET ") { return .json(200, "[]") }
            guard request.hasPrefix("DELETE "), request.contains("/consents/") else {
                return .http(204)
            }
            return .json(404, #"{"error":"Consent nor offline token not found"}"#)
        }
        try await Self.with(played.preset, react: react) { provider, server in
            #expect(await provider.check(Self.subject()) == .dead)
            let expected: RevokeAnswer = played.isComplete ? .grantGone : .success
            #expect(await provider.revoke(Self.subject()) == expected)
            // Tokens of which no list knows end all the same.
            let lines = server.requests.map { FamilyHarness.line($0) }
            #expect(Set(lines).isSuperset(of: played.ends.map { $0 + " HTTP/1.1" }))
        }
    }

    static let unknown = [
        ("keycloak", #"{"error":"User not found"}"#),
        ("okta", #"{"errorCode":"E0000007","errorSummary":"Not found"}"#),
    ]

    @Test("a user whom the server does not know is no success", arguments: unknown)
    func unknownUser(_ preset: String, _ body: String) async throws {
        try await Self.with(preset, answering: .json(404, body)) { provider, server in
            #expect(await provider.check(Self.subject()) == .dead)
            #expect(await provider.revoke(Self.subject()) == .unfit)
            #expect(server.requests.allSatisfy { $0.hasPrefix("GET ") })
        }
    }

    @Test("401 and 403 are the operator's failure", arguments: servers, [401, 403])
    func ours(_ played: Server, status: Int) async throws {
        try await Self.with(played.preset, answering: .json(status, "{}")) { provider, _ in
            #expect(await provider.check(Self.subject()) == .failure(.misconfigured))
            #expect(await provider.revoke(Self.subject()) == .failure(.misconfigured))
        }
    }

    @Test("another 404 concerns everybody, and says nothing of the user", arguments: servers)
    func wrongPlace(_ played: Server) async throws {
        let answer = RawServer.Reaction.json(404, #"{"error":"no_such_place"}"#)
        try await Self.with(played.preset, answering: answer) { provider, _ in
            let refusal = Refusal(status: 404, error: "no_such_place")
            #expect(await provider.check(Self.subject()) == .failure(.refusesAll(refusal)))
            #expect(await provider.revoke(Self.subject()) == .failure(.refusesAll(refusal)))
        }
    }

    @Test("what is no list says nothing", arguments: servers)
    func noList(_ played: Server) async throws {
        try await Self.with(played.preset, answering: .json(200, "{}")) { provider, _ in
            #expect(await provider.check(Self.subject()) == .failure(.unusable))
            #expect(await provider.revoke(Self.subject()) == .failure(.unusable))
        }
    }

    @Test(
        "a full page of other clients may hide the client",
        arguments: [(99, true), (100, false)]
    )
    func fullPage(_ count: Int, _ isWhole: Bool) async throws {
        let other = #"{"consent_request":{"client":{"client_id":"other"}}}"#
        let page = "[" + Array(repeating: other, count: count).joined(separator: ",") + "]"
        try await Self.with("hydra", answering: .json(200, page)) { provider, _ in
            let expected: CheckAnswer = isWhole ? .dead : .unknown
            #expect(await provider.check(Self.subject()) == expected)
        }
    }

    @Test("a full page of ended grants may hide a live one", arguments: [(19, true), (20, false)])
    func endedPage(_ count: Int, _ isWhole: Bool) async throws {
        let ended = Array(repeating: #"{"id":"g","status":"REVOKED"}"#, count: count)
        let page = "[" + ended.joined(separator: ",") + "]"
        try await Self.with("okta", answering: .json(200, page)) { provider, _ in
            let expected: CheckAnswer = isWhole ? .dead : .unknown
            #expect(await provider.check(Self.subject()) == expected)
        }
    }

    @Test("an entry that names no client may be the client's", arguments: ["hydra", "keycloak"])
    func namelessEntry(_ preset: String) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.hasPrefix("GET ") ? .json(200, #"[{"id":"g"}]"#) : .http(204)
        }
        try await Self.with(preset, react: react) { provider, _ in
            #expect(await provider.check(Self.subject()) == .unknown)
            #expect(await provider.revoke(Self.subject()) == .success)
        }
    }

    @Test("what a server forbids for one user pauses no other")
    func oneForbidden() async throws {
        let issued = Mutex(0)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /token") {
                issued.withLock { $0 += 1 }
                return .json(
                    200,
                    #"{"access_token":"t","token_type":"Bearer","expires_in":600}"#
                )
            }
            return request.contains("expunged-self-check")
                ? .json(404, #"{"error":"User not found"}"#)
                : .json(403, #"{"error":"HTTP 403 Forbidden"}"#)
        }
        let client = OAuth2Client(id: "admin", authentication: .post(Secret("admin-secret")))
        try await Self.with("keycloak", admin: .client(client), react: react) { provider, _ in
            let refusal = Refusal(status: 403, error: "HTTP 403 Forbidden")
            #expect(await provider.check(Self.subject()) == .failure(.refused(refusal)))
            #expect(await provider.revoke(Self.subject()) == .failure(.refused(refusal)))
        }
        // The token is as good as before.
        let count = issued.withLock { $0 }
        #expect(count == 1)
    }

    @Test("a call that ends no grants fails for everybody, though the lists work")
    func endRefused() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.hasPrefix("GET ")
                ? .json(200, "[]") : .json(404, #"{"error":"no_such_place"}"#)
        }
        try await Self.with("hydra", react: react) { provider, _ in
            let refusal = Refusal(status: 404, error: "no_such_place")
            for _ in 0..<2 {
                #expect(await provider.revoke(Self.subject()) == .failure(.refusesAll(refusal)))
            }
        }
    }

    static let unfitIDs = [("keycloak", "."), ("keycloak", ".."), ("okta", "me"), ("okta", "Me")]

    @Test("what no path can have and what means the operator is no user's id", arguments: unfitIDs)
    func unfitID(_ preset: String, _ id: String) async throws {
        try await Self.with(preset, answering: .json(200, "[]")) { provider, server in
            let subject = OAuth2Harness.credential(.subject, id)
            #expect(await provider.revoke(subject) == .unfit)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a client's own token is kept, and replaced when the server has ended it")
    func clientToken() async throws {
        let issued = Mutex(0)
        let valid = Mutex("t1")
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /token") {
                let number = issued.withLock { count in
                    count += 1
                    return count
                }
                return .json(
                    200,
                    #"{"access_token":"t\#(number)","token_type":"Bearer","expires_in":600}"#
                )
            }
            return request.contains("Bearer \(valid.withLock { $0 })\r\n")
                ? .json(200, "[]") : .json(401, #"{"error":"HTTP 401 Unauthorized"}"#)
        }
        let client = OAuth2Client(id: "admin", authentication: .post(Secret("admin-secret")))
        try await Self.with("auth0", admin: .client(client), react: react) { provider, server in
            #expect(await provider.check(Self.subject()) == .dead)
            #expect(await provider.check(Self.subject()) == .dead)
            let first = issued.withLock { $0 }
            #expect(first == 1)
            valid.withLock { $0 = "t2" }
            #expect(await provider.check(Self.subject()) == .dead)
            let second = issued.withLock { $0 }
            #expect(second == 2)
            valid.withLock { $0 = "another" }
            #expect(await provider.check(Self.subject()) == .failure(.misconfigured))
            let form = try #require(server.requests.first)
            #expect(FamilyHarness.field("audience", of: form)?.hasSuffix("%2Fbase%2F") == true)
        }
    }

    @Test("the check of the provider asks for each right", arguments: ["lists", "ends"])
    func problem(_ lacking: String) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /token") { return .json(400, #"{"error":"invalid_grant"}"#) }
            if request.hasPrefix("POST /revoke") { return .json(200, "{}") }
            return lacking == "ends" && request.hasPrefix("GET ")
                ? .json(200, "[]") : .json(403, "{}")
        }
        try await Self.with("hydra", react: react) { provider, server in
            let problem = try #require(await provider.problem())
            #expect(problem.failure == .misconfigured)
            #expect(problem.text.contains("\(lacking) no grants"))
            #expect(problem.text.contains("admin_secret_credential"))
            #expect(server.requests.contains { $0.contains("subject=expunged-self-check") })
        }
    }

    /// The presets whose admin API the sandbox plays, and where.
    static let played = [("hydra", ""), ("keycloak", "/admin/realms/app")]

    @Test("a refresh token of the stand-in is dead after its user's revocation", arguments: played)
    func sandbox(_ preset: String, _ path: String) async throws {
        let profile = try #require(OAuth2Profile.presets[preset])
        let settings: (RunningSandbox) -> OAuth2Setup = { sandbox in
            var settings = OAuth2Harness.settings(profile)
            settings.profile.issuer = sandbox.baseURL(of: .oauth2)
            settings.profile.check = .introspection
            settings.profile.adminURL = sandbox.baseURL(of: .oauth2) + path
            settings.admin = .token(Secret("admin-token"))
            return settings
        }
        try await OAuth2Harness.withSandbox(.oauth2, settings: settings) { provider, sandbox in
            var order = SandboxOrder.Tokens()
            order.clientID = OAuth2Harness.clientID
            let token = try #require(try sandbox.issueTokens(order, at: .oauth2).first)
            let refresh = OAuth2Harness.credential(
                .refreshToken,
                try #require(token.refreshToken)
            )
            let subject = OAuth2Harness.credential(.subject, token.subject)
            #expect(await provider.diagnose() == nil)
            #expect(await provider.check(refresh) == .live)
            #expect(await provider.check(subject) == .live)
            #expect(await provider.revoke(subject) == .success)
            #expect(await provider.check(subject) == .dead)
            #expect(await provider.check(refresh) == .dead)
            let again: RevokeAnswer = preset == "keycloak" ? .grantGone : .success
            #expect(await provider.revoke(subject) == again)
        }
    }

    @Test("without admin_url an id is of no use")
    func off() async throws {
        let profile = try #require(OAuth2Profile.presets["keycloak"])
        try await RawServer.with(answering: .json(200, "[]")) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, profile)) { provider in
                #expect(provider.traits.extraKinds.isEmpty)
                #expect(await provider.revoke(Self.subject()) == .failure(.unusable))
                #expect(server.requests.isEmpty)
            }
        }
    }
}
