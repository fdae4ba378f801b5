import Engine
import Lifecycle
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import HTTP
@testable import Providers

/// A token that is stored under another of a provider's client ids than its own.
@Suite("Several client ids")
struct SeveralClientsTests {
    static let other = "app2"

    /// Both clients at one server, or at the stand-in.
    static func settings(
        like one: OAuth2Setup,
        check: OAuth2Check
    ) -> OAuth2Setup {
        let isPost = one.profile.prefersPost
        var settings = one
        settings.clients.append(
            OAuth2Client(
                id: other,
                authentication: isPost ? .post(Secret("secret2")) : .basic(Secret("secret2"))
            )
        )
        settings.profile.check = check
        return settings
    }

    static func preset(_ name: String, at server: RawServer) throws -> OAuth2Setup {
        let profile = try #require(OAuth2Profile.presets[name])
        return settings(like: OAuth2Harness.at(server, profile), check: .none)
    }

    /// A server that rotates, with a token of the second client, judged by its own table.
    private static func withRotation(
        _ unknownToken: OAuth2Configuration.UnknownToken,
        _ body: (SandboxToken, OAuth2Setup, RunningSandbox) async throws -> Void
    ) async throws {
        var configuration = SandboxConfiguration()
        configuration.oauth2.clients.append(ClientRegistration(other, secret: "secret2"))
        configuration.oauth2.unknownToken = unknownToken
        let sandbox = try await SandboxServer.start(configuration: configuration)
        do {
            var one = OAuth2Harness.settings()
            one.profile.issuer = sandbox.baseURL(of: .oauth2)
            one.http.caFile = sandbox.authorityFile
            var order = SandboxOrder.Tokens()
            order.clientID = other
            let token = try #require(try sandbox.issueTokens(order, at: .oauth2).first)
            try await body(token, settings(like: one, check: .refresh), sandbox)
        } catch {
            try await sandbox.shutdown()
            throw error
        }
        try await sandbox.shutdown()
    }

    @Test(
        "what a check rotated is what is revoked, also after a restart",
        arguments: [OAuth2Configuration.UnknownToken.ok, .errorInBody, .refused],
        [false, true]
    )
    func rotation(_ unknown: OAuth2Configuration.UnknownToken, _ restarts: Bool) async throws {
        try await Self.withRotation(unknown) { token, settings, sandbox in
            let kept = KeptTokens()
            var first = OAuth2Harness.credential(.refreshToken, token.refreshToken ?? "")
            first.keeper = kept.keeper
            let revoke: (OAuth2Provider) async throws -> Void = { provider in
                var stored = OAuth2Harness.credential(
                    .refreshToken,
                    try #require(kept.all.last)
                )
                stored.keeper = kept.keeper
                #expect(await provider.revoke(stored) == .success)
                #expect(kept.all.count == 1)
                let user = sandbox.grants(at: .oauth2, user: token.user)
                #expect(user.map(\.liveTokens) == [0])
                #expect(await provider.check(stored) == .dead)
            }
            try await OAuth2Harness.with(settings, now: MachineClock.now) { provider in
                #expect(await provider.check(first) == .live)
                if !restarts { try await revoke(provider) }
            }
            guard restarts else { return }
            try await OAuth2Harness.with(settings, now: MachineClock.now) { provider in
                try await revoke(provider)
            }
        }
    }

    @Test("a rotated token that cannot be kept is revoked with one call", arguments: [1, 2])
    func unkept(_ clientCount: Int) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.hasPrefix("POST /token") else {
                return .json(400, #"{"error":"invalid_token"}"#)
            }
            // It would rotate for ever; a search that asks again ends here.
            let count = FamilyHarness.field("refresh_token", of: request)?.count ?? 0
            guard count < 10 else { return Golden.error("invalid_grant") }
            let next = String(repeating: "r", count: count + 1)
            return Golden.text(
                #"{"access_token":"a","token_type":"Bearer","refresh_token":"\#(next)"}"#
            )
        }
        try await RawServer.with(react: react) { server in
            var settings = OAuth2Harness.at(server, .standard, check: .refresh)
            if clientCount == 2 { settings = Self.settings(like: settings, check: .refresh) }
            try await OAuth2Harness.with(settings) { provider in
                var token = OAuth2Harness.credential(.refreshToken, "r")
                token.keeper = KeptTokens(isWorking: false).keeper
                #expect(await provider.check(token) == .failure(.misconfigured))
            }
            #expect(
                server.requests.map(FamilyHarness.line).map { $0.prefix(12) }
                    == ["POST /token ", "POST /revoke"]
            )
            #expect(server.requests.last?.contains("token=rr&") == true)
        }
    }

    /// Who the refresh token belongs to, the answer, and the calls.
    static let owners: [(String?, RevokeAnswer, Int)] = [
        ("YXBwMjpzZWNyZXQy", .success, 3), (nil, .alreadyInvalid, 2),
    ]

    @Test(
        "a refresh token that is exchanged first is exchanged by its own client",
        arguments: owners
    )
    func refreshesFirst(_ owner: String?, _ answer: RevokeAnswer, _ callCount: Int) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.contains("/token HTTP") || request.contains("POST /token") else {
                return .http(200)
            }
            guard let owner, request.contains("Authorization: Basic \(owner)\r\n") else {
                return Golden.error("invalid_grant")
            }
            return Golden.text(#"{"access_token":"fresh","token_type":"bearer"}"#)
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(try Self.preset("dropbox", at: server)) { provider in
                #expect(await provider.revoke(OAuth2Harness.credential(.refreshToken)) == answer)
            }
            #expect(server.requests.count == callCount)
        }
    }

    /// Twitch answers success for live tokens alone, and at Salesforce no client is named.
    @Test(
        "a success that needs no other client is not asked for again",
        arguments: ["twitch", "salesforce"]
    )
    func success(_ preset: String) async throws {
        let calls = Mutex(0)
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            calls.withLock {
                $0 += 1
                return $0
            } == 1 ? .http(200) : .http(503)
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(try Self.preset(preset, at: server)) { provider in
                #expect(await provider.revoke(OAuth2Harness.credential(.accessToken)) == .success)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test("a token is not dead while one of the clients is refused itself")
    func misconfigured() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("Authorization: Basic YXBwMjpzZWNyZXQy\r\n")
                ? Golden.error("invalid_client", status: 401) : Golden.error("invalid_grant")
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(try Self.preset("dropbox", at: server)) { provider in
                let answer = await provider.revoke(OAuth2Harness.credential(.refreshToken))
                let refused = Refusal(status: 401, error: "invalid_client", client: "app2")
                #expect(answer == .failure(.refusesAll(refused)))
            }
        }
    }
}
