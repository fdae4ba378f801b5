import Sandbox
import TestSupport
import Testing

@Suite("Apple's revoke endpoint")
struct AppleRevokeTests {
    private func text(_ quoted: String?) throws -> String {
        String(try #require(quoted).dropFirst().dropLast())
    }

    @Test("a live token of either kind cuts the whole authorization", arguments: [true, false])
    func cutsAll(byRefreshToken: Bool) async throws {
        try await SandboxFixture.with { configuration in
            configuration.apple.refreshLimit = .off
        } body: { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let tokens = try await fixture.exchange(signIn.code).json
            let web = try fixture.sandbox.signIn(
                user: "alice",
                clientID: SandboxFixture.otherClientID
            )
            let webTokens = try await fixture.exchange(
                web.code,
                clientID: SandboxFixture.otherClientID
            ).json
            let refreshToken = try text(tokens["refresh_token"])
            #expect(try await fixture.refresh(refreshToken).status == 200)

            let chosen = byRefreshToken ? refreshToken : try text(tokens["access_token"])
            let answer = try await fixture.revoke(chosen)
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(fixture.sandbox.grantState(user: "alice") == .revoked)
            #expect(
                try await fixture.refresh(refreshToken).json["error"] == "'invalid_grant'"
            )
            let other = try await fixture.refresh(
                try text(webTokens["refresh_token"]),
                clientID: SandboxFixture.otherClientID
            )
            #expect(try other.json["error"] == "'invalid_grant'")
            #expect(fixture.sandbox.log().map(\.outcome).contains(.revoked))
        }
    }

    @Test("200 proves nothing: garbage, a code, an id token and a dead token change nothing")
    func trapOfSuccess() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let dead = try fixture.sandbox.issueRefreshTokens(count: 1)[0]
            _ = try await fixture.revoke(dead.refreshToken)
            for token in ["garbage", signIn.code, signIn.idToken, dead.refreshToken] {
                let answer = try await fixture.revoke(token)
                #expect(answer.status == 200)
                #expect(answer.body.isEmpty)
                #expect(fixture.sandbox.log().last?.outcome == .ignored)
            }
            #expect(fixture.sandbox.grantState(user: "alice") == .live)
            #expect(try await fixture.exchange(signIn.code).status == 200)
        }
    }

    @Test("an access token cuts nothing once it is an hour old")
    func oldAccessToken() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let tokens = try await fixture.exchange(signIn.code).json
            fixture.sandbox.setClockOffset(.seconds(3601))
            let secret = try fixture.secret { claims in claims.exp += 7200 }
            let answer = try await fixture.call(
                "/auth/revoke",
                ["token": try text(tokens["access_token"])],
                secret: secret
            )
            #expect(answer.status == 200)
            #expect(fixture.sandbox.grantState(user: "alice") == .live)
        }
    }

    @Test(
        "a token in a field named after its kind is 200 without effect, or 400 by choice",
        arguments: AppleConfiguration.MisnamedToken.allCases
    )
    func misnamedToken(choice: AppleConfiguration.MisnamedToken) async throws {
        try await SandboxFixture.with { configuration in
            configuration.apple.misnamedToken = choice
        } body: { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            let answer = try await fixture.call("/auth/revoke", ["refresh_token": token])
            #expect(answer.status == (choice == .accept ? 200 : 400))
            #expect(fixture.sandbox.grantState(user: "user-1") == .live)
        }
    }

    @Test("a live token of another client is refused and stays live; no token at all is 400")
    func refusals() async throws {
        try await SandboxFixture.with { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            let other = try await fixture.revoke(
                token,
                clientID: SandboxFixture.otherClientID
            )
            #expect(other.status == 400)
            #expect(try other.json["error"] == "'invalid_grant'")
            #expect(fixture.sandbox.grantState(user: "user-1") == .live)
            let none = try await fixture.call("/auth/revoke", ["token_type_hint": "x"])
            #expect(try none.json == ["error": "'invalid_request'"])
        }
    }
}
