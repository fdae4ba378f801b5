import NIOHTTP1
import Sandbox
import TestSupport
import Testing

@Suite("Apple's token endpoint")
struct AppleTokenTests {
    private let used = [
        "error": "'invalid_grant'", "error_description": "'The code has already been used.'",
    ]
    private let expired = [
        "error": "'invalid_grant'",
        "error_description": "'The code has expired or has been revoked.'",
    ]
    private let dead = [
        "error": "'invalid_grant'",
        "error_description": "'The token has expired or has been revoked.'",
    ]

    @Test("a code becomes tokens once, and never again")
    func singleUse() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let first = try await fixture.exchange(signIn.code)
            #expect(first.status == 200)
            let tokens = try first.json
            #expect(tokens["token_type"] == "'Bearer'")
            #expect(tokens["expires_in"] == "3600")
            #expect(Set(tokens.keys).isSuperset(of: ["access_token", "refresh_token", "id_token"]))
            let second = try await fixture.exchange(signIn.code)
            #expect(second.status == 400)
            #expect(try second.json == used)
        }
    }

    @Test("a code lives five minutes by the sandbox's clock")
    func codeLifetime() async throws {
        // The clock stands still: a busy machine has all the time to make a call.
        let present: Int64 = 1_800_000_000
        try await SandboxFixture.with { configuration in
            configuration.wallMilliseconds = { present * 1000 }
        } body: { fixture in
            let secret = try fixture.secret { claims in
                claims.iat = Double(present)
                claims.exp = Double(present + 3600)
            }
            let exchange = { (code: String) async throws -> SandboxFixture.Answer in
                try await fixture.call(
                    "/auth/token",
                    ["grant_type": "authorization_code", "code": code],
                    secret: secret
                )
            }
            let young = try fixture.sandbox.signIn(user: "alice", age: .seconds(290))
            #expect(try await exchange(young.code).status == 200)
            let old = try fixture.sandbox.signIn(user: "bob", age: .seconds(301))
            #expect(try await exchange(old.code).json == expired)
            let waiting = try fixture.sandbox.signIn(user: "carol")
            fixture.sandbox.setClockOffset(.seconds(301))
            #expect(try await exchange(waiting.code).json == expired)
            #expect(try await exchange("no-such-code").status == 400)
        }
    }

    @Test("a code of another client, or with another redirect URI, is refused and not spent")
    func mismatches() async throws {
        try await SandboxFixture.with { fixture in
            let uri = "https://example.com/back?a=b&c=d"
            let signIn = try fixture.sandbox.signIn(user: "alice", redirectURI: uri)
            let other = try await fixture.exchange(
                signIn.code,
                clientID: SandboxFixture.otherClientID,
                redirectURI: uri
            )
            #expect(try other.json["error"] == "'invalid_grant'")
            let bare = try await fixture.exchange(signIn.code)
            #expect(bare.status == 400)
            #expect(try bare.json == ["error": "'invalid_client'"])
            #expect(try await fixture.exchange(signIn.code, redirectURI: uri).status == 200)
        }
    }

    @Test("the check of a refresh token answers no refresh token, and works once a day")
    func refreshLimit() async throws {
        try await SandboxFixture.with { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            let first = try await fixture.refresh(token)
            #expect(first.status == 200)
            #expect(try first.json["refresh_token"] == nil)
            #expect(try first.json["id_token"] != nil)
            let second = try await fixture.refresh(token)
            #expect(second.status == 429)
            #expect(second.headers["retry-after"].isEmpty)
            fixture.sandbox.setClockOffset(.seconds(86_401))
            let secret = try fixture.secret { claims in claims.exp += 2 * 86_400 }
            let third = try await fixture.call(
                "/auth/token",
                ["grant_type": "refresh_token", "refresh_token": token],
                secret: secret
            )
            #expect(third.status == 200)
        }
    }

    @Test("without the limit a refresh token is checked as often as wanted, id token by choice")
    func noLimit() async throws {
        try await SandboxFixture.with { configuration in
            configuration.apple.refreshLimit = .off
            configuration.apple.returnsIDTokenOnRefresh = false
        } body: { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            for _ in 0..<3 {
                let answer = try await fixture.refresh(token)
                #expect(answer.status == 200)
                #expect(try answer.json["id_token"] == nil)
            }
            let other = try await fixture.refresh(
                token,
                clientID: SandboxFixture.otherClientID
            )
            #expect(try other.json["error"] == "'invalid_grant'")
            #expect(try await fixture.refresh("garbage").json == dead)
        }
    }

    @Test("consent withdrawn by the user kills tokens and open codes; a new sign-in starts anew")
    func withdrawal() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(user: "alice")
            let token = try #require(
                try await fixture.exchange(signIn.code).json["refresh_token"]
            )
            let open = try fixture.sandbox.signIn(user: "alice")
            let notification = try fixture.sandbox.withdrawConsent(user: "alice")
            #expect(notification.split(separator: ".").count == 3)
            #expect(fixture.sandbox.grantState(user: "alice") == .revoked)
            #expect(try await fixture.refresh(String(token.dropFirst().dropLast())).json == dead)
            #expect(try await fixture.exchange(open.code).json == expired)
            let again = try fixture.sandbox.signIn(user: "alice")
            #expect(again.subject == signIn.subject)
            #expect(fixture.sandbox.grantState(user: "alice") == .live)
            #expect(try await fixture.refresh(String(token.dropFirst().dropLast())).json == dead)
            #expect(try await fixture.exchange(again.code).status == 200)
            #expect(fixture.sandbox.grantState(user: "nobody") == nil)
        }
    }

    @Test("malformed requests get the documented errors")
    func malformed() async throws {
        try await SandboxFixture.with { fixture in
            let noGrant = try await fixture.call("/auth/token", ["code": "x"])
            #expect(try noGrant.json == ["error": "'invalid_request'"])
            let noCode = try await fixture.call(
                "/auth/token",
                ["grant_type": "authorization_code"]
            )
            #expect(try noCode.json == ["error": "'invalid_request'"])
            let password = try await fixture.call("/auth/token", ["grant_type": "password"])
            #expect(try password.json == ["error": "'unsupported_grant_type'"])
            let twice = try await fixture.send(
                .POST,
                "/auth/token",
                body: "grant_type=refresh_token&grant_type=refresh_token"
            )
            #expect(try twice.json == ["error": "'invalid_request'"])
            #expect(try await fixture.send(.GET, "/auth/token").status == 404)
        }
    }
}
