import Cryptography
import Encoding
import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("GitHub")
struct GitHubTests {
    private static let oauthApp = ClientRegistration(
        "Ov23liSandboxOAuthApp",
        secret: "github-secret"
    )
    private static let gitHubApp = ClientRegistration(
        "Iv23liSandboxGitHub",
        secret: "github-app-secret"
    )

    private func tokens(
        _ fixture: SandboxFixture,
        _ client: ClientRegistration
    ) throws -> SandboxToken {
        var order = SandboxOrder.Tokens()
        order.clientID = client.clientID
        return try fixture.sandbox.issueTokens(order, at: .github)[0]
    }

    private func call(
        _ fixture: SandboxFixture,
        _ method: HTTPMethod,
        _ what: String,
        _ client: ClientRegistration,
        body: String,
        secret: String? = nil,
        agent: String? = "test"
    ) async throws -> SandboxFixture.Answer {
        let password = secret ?? client.clientSecret ?? ""
        var headers = SandboxFixture.basic(client.clientID, password)
        headers["user-agent"] = agent
        return try await fixture.send(
            method,
            "/github/applications/\(client.clientID)/\(what)",
            body: body,
            type: "application/json",
            headers: headers
        )
    }

    private func body(_ token: String) -> String { #"{"access_token":"\#(token)"}"# }

    private func refresh(
        _ fixture: SandboxFixture,
        _ token: String,
        headers: [String: String] = ["accept": "application/json"]
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post(
            "/github/login/oauth/access_token",
            [
                "client_id": Self.gitHubApp.clientID,
                "client_secret": Self.gitHubApp.clientSecret ?? "",
                "grant_type": "refresh_token", "refresh_token": token,
            ],
            headers: headers
        )
    }

    @Test("deleting the grant ends every token of the user; afterwards it is 404")
    func grant() async throws {
        try await SandboxFixture.with { fixture in
            let first = try tokens(fixture, Self.oauthApp).accessToken
            let second = try tokens(fixture, Self.oauthApp).accessToken
            #expect(first.hasPrefix("gho_"))
            let deleted = try await call(
                fixture,
                .DELETE,
                "grant",
                Self.oauthApp,
                body: body(first)
            )
            #expect(deleted.status == 204)
            #expect(deleted.body.isEmpty)
            for token in [first, second] {
                let check = try await call(
                    fixture,
                    .POST,
                    "token",
                    Self.oauthApp,
                    body: body(token)
                )
                #expect(check.status == 404)
            }
            #expect(try fixture.states(.github) == ["user-1": .revoked])
            let records = fixture.sandbox.log()
            #expect(records.first?.status == 204)
            #expect(records.first?.outcome == .revoked)
        }
    }

    @Test("deleting a token leaves the grant and the other tokens")
    func token() async throws {
        try await SandboxFixture.with { fixture in
            let first = try tokens(fixture, Self.oauthApp).accessToken
            let second = try tokens(fixture, Self.oauthApp).accessToken
            let deleted = try await call(
                fixture,
                .DELETE,
                "token",
                Self.oauthApp,
                body: body(first)
            )
            #expect(deleted.status == 204)
            for (token, status) in [(first, UInt(401)), (second, 200)] {
                let user = try await fixture.send(
                    .GET,
                    "/github/user",
                    headers: ["authorization": "Bearer \(token)", "user-agent": "test"]
                )
                #expect(user.status == status)
            }
            #expect(try fixture.states(.github) == ["user-1": .live])
        }
    }

    @Test(
        "a body without a token is 422, a caller without a name 403, wrong credentials 404 or 401"
    )
    func refusals() async throws {
        for (configured, status) in [
            (GitHubConfiguration.BadCredentials.notFound, UInt(404)), (.unauthorized, 401),
        ] {
            try await SandboxFixture.with { configuration in
                configuration.github.badCredentials = configured
            } body: { fixture in
                let token = try tokens(fixture, Self.oauthApp).accessToken
                let grant = { (body: String, secret: String?, agent: String?) in
                    try await call(
                        fixture,
                        .DELETE,
                        "grant",
                        Self.oauthApp,
                        body: body,
                        secret: secret,
                        agent: agent
                    ).status
                }
                #expect(try await grant("{}", nil, "test") == 422)
                #expect(try await grant(body(token), nil, nil) == 403)
                #expect(try await grant(body(token), "wrong", "test") == status)
                #expect(try await grant(body("gho_garbage"), nil, "test") == 404)
                #expect(try fixture.states(.github) == ["user-1": .live])
            }
        }
    }

    @Test("an expired ghu_ token cannot cut the grant until it is refreshed")
    func expired() async throws {
        try await SandboxFixture.with { fixture in
            let made = try tokens(fixture, Self.gitHubApp)
            #expect(made.accessToken.hasPrefix("ghu_"))
            let token = try #require(made.refreshToken)
            #expect(token.hasPrefix("ghr_"))
            fixture.sandbox.setClockOffset(.seconds(28_800))
            let dead = try await call(
                fixture,
                .DELETE,
                "grant",
                Self.gitHubApp,
                body: body(made.accessToken)
            )
            #expect(dead.status == 404)
            #expect(try fixture.states(.github) == ["user-1": .live])
            let fresh = try await refresh(fixture, token)
            let live = try await call(
                fixture,
                .DELETE,
                "grant",
                Self.gitHubApp,
                body: body(try fresh.text("access_token"))
            )
            #expect(live.status == 204)
        }
    }

    @Test("a refresh replaces both tokens; the old one then fails with 200")
    func rotation() async throws {
        try await SandboxFixture.with { fixture in
            let made = try tokens(fixture, Self.gitHubApp)
            let token = try #require(made.refreshToken)
            let fresh = try await refresh(fixture, token)
            #expect(try fresh.text("refresh_token").hasPrefix("ghr_"))
            #expect(try fresh.text("expires_in") == "28800")
            let again = try await refresh(fixture, token)
            #expect(try again.verdict == "200 'bad_refresh_token'")
            let old = try await call(
                fixture,
                .POST,
                "token",
                Self.gitHubApp,
                body: body(made.accessToken)
            )
            #expect(old.status == 404)
            #expect(fixture.sandbox.log().map(\.outcome) == [.validated, .refused, .refused])
        }
    }

    @Test("a code is exchanged once; every error is 200, and a form unless JSON is accepted")
    func exchange() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(.init(user: "alice"), at: .github)
            var form = ["client_id": Self.oauthApp.clientID, "client_secret": "wrong"]
            form["code"] = signIn.code
            let json = ["accept": "application/json"]
            let path = "/github/login/oauth/access_token"
            let wrong = try await fixture.post(path, form, headers: json)
            #expect(try wrong.verdict == "200 'incorrect_client_credentials'")
            form["client_secret"] = Self.oauthApp.clientSecret
            let good = try await fixture.post(path, form)
            #expect(good.status == 200)
            #expect(good.body.hasPrefix("access_token=gho_"))
            #expect(good.body.hasSuffix("&token_type=bearer&scope=read%3Auser"))
            let used = try await fixture.post(path, form, headers: json)
            #expect(try used.verdict == "200 'bad_verification_code'")
            let plain = try await fixture.post(path, form)
            #expect(plain.body.hasPrefix("error=bad_verification_code&"))
        }
    }

    @Test("a GitHub App hears of a withdrawal by a signed webhook, an OAuth app hears nothing")
    func webhook() async throws {
        try await SandboxFixture.with { fixture in
            _ = try tokens(fixture, Self.oauthApp)
            _ = try tokens(fixture, Self.gitHubApp)
            #expect(try fixture.sandbox.withdraw(.init(user: "user-1"), at: .github) == nil)
            var order = SandboxOrder.Withdrawal(user: "user-1")
            order.clientID = Self.gitHubApp.clientID
            let notification = try #require(try fixture.sandbox.withdraw(order, at: .github))
            #expect(notification.headers["x-github-event"] == "github_app_authorization")
            let code = KeyedHash.sha256(
                key: Array((Self.gitHubApp.clientSecret ?? "").utf8),
                message: Array(notification.body.utf8)
            )
            let signature = "sha256=\(Hexadecimal.text(code))"
            #expect(notification.headers["x-hub-signature-256"] == signature)
            #expect(notification.body.contains(#""action":"revoked""#))
            let states = fixture.sandbox.grants(at: .github).map(\.state)
            #expect(states == [.revoked, .revoked])
        }
    }

    @Test("a secondary limit is 403 with Retry-After")
    func throttled() async throws {
        try await SandboxFixture.with { fixture in
            let token = try tokens(fixture, Self.oauthApp).accessToken
            fixture.sandbox.inject(.throttled, at: .revoke, of: .github)
            let answer = try await call(
                fixture,
                .DELETE,
                "grant",
                Self.oauthApp,
                body: body(token)
            )
            #expect(answer.status == 403)
            #expect(answer.headers.first(name: "retry-after") == "1")
        }
    }
}
