import Cryptography
import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("X")
struct XTests {
    private static let basic = SandboxFixture.basic("x-client", "x-secret")

    private func revoke(
        _ fixture: SandboxFixture,
        _ token: String
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post("/x/2/oauth2/revoke", ["token": token], headers: Self.basic)
    }

    private func me(_ fixture: SandboxFixture, _ token: String) async throws -> UInt {
        try await fixture.send(
            .GET,
            "/x/2/users/me",
            headers: ["authorization": "Bearer \(token)"]
        ).status
    }

    private func refresh(
        _ fixture: SandboxFixture,
        _ token: String
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post(
            "/x/2/oauth2/token",
            ["grant_type": "refresh_token", "refresh_token": token],
            headers: Self.basic
        )
    }

    @Test("a revoke ends one token: the other one of the pair and the grant live on")
    func revokeOne() async throws {
        try await SandboxFixture.with { fixture in
            let first = try fixture.sandbox.issueTokens(at: .x)[0]
            let answer = try await revoke(fixture, first.accessToken)
            #expect(answer.body == #"{"revoked":true}"#)
            #expect(try await me(fixture, first.accessToken) == 401)
            let fresh = try await refresh(fixture, try #require(first.refreshToken))
            #expect(fresh.status == 200)
            let second = try fresh.text("refresh_token")
            #expect(try await revoke(fixture, second).status == 200)
            #expect(try await me(fixture, try fresh.text("access_token")) == 200)
            #expect(try await refresh(fixture, second).verdict == "400 'invalid_request'")
            #expect(try fixture.states(.x) == ["user-1": .live])
        }
    }

    @Test("an unknown token is 200 or, by configuration, refused", arguments: [false, true])
    func unknown(isRefused: Bool) async throws {
        try await SandboxFixture.with { configuration in
            configuration.x.refusesUnknownTokens = isRefused
        } body: { fixture in
            let answer = try await revoke(fixture, "garbage")
            #expect(answer.status == (isRefused ? 400 : 200))
        }
    }

    @Test("a refresh token is used once, and there is none without offline.access")
    func refreshTokens() async throws {
        try await SandboxFixture.with { fixture in
            let token = try #require(try fixture.sandbox.issueTokens(at: .x)[0].refreshToken)
            #expect(try await refresh(fixture, token).status == 200)
            #expect(try await refresh(fixture, token).verdict == "400 'invalid_request'")
            var order = SandboxOrder.Tokens()
            order.scope = "users.read"
            #expect(try fixture.sandbox.issueTokens(order, at: .x)[0].refreshToken == nil)
        }
    }

    @Test("a code lives half a minute and needs its PKCE verifier; clients prove themselves")
    func exchange() async throws {
        try await SandboxFixture.with { fixture in
            let bad = SandboxFixture.basic("x-client", "wrong")
            for (age, clientID, headers, hasVerifier, expected) in [
                (Int64(0), "x-client", Self.basic, true, "200 -"),
                (0, "x-public", [:], true, "200 -"),
                (31, "x-client", Self.basic, true, "400 'invalid_request'"),
                (0, "x-client", Self.basic, false, "400 'invalid_request'"),
                (0, "x-client", [:], true, "401 'unauthorized_client'"),
                (0, "x-client", bad, true, "401 'unauthorized_client'"),
            ] {
                var order = SandboxOrder.SignIn(user: "alice")
                order.ageSeconds = age
                order.clientID = clientID
                let signIn = try fixture.sandbox.signIn(order, at: .x)
                var form = ["grant_type": "authorization_code", "client_id": clientID]
                form["code"] = signIn.code
                form["code_verifier"] = hasVerifier ? signIn.codeVerifier : nil
                let answer = try await fixture.post("/x/2/oauth2/token", form, headers: headers)
                #expect(try answer.verdict == expected)
            }
        }
    }

    @Test("X tells nobody of a withdrawal")
    func withdrawal() async throws {
        try await SandboxFixture.with { fixture in
            let made = try fixture.sandbox.issueTokens(at: .x)[0]
            #expect(try fixture.sandbox.withdraw(.init(user: "user-1"), at: .x) == nil)
            #expect(try await me(fixture, made.accessToken) == 401)
        }
    }
}

@Suite("X with OAuth 1.0a")
struct XSignatureTests {
    /// What a test may get wrong.
    private struct Signing {
        var consumerSecret = "x-consumer-secret"
        var tokenSecret: String
        var nonce = TokenGenerator.text()
        var timestamp = SandboxClock.wallMilliseconds() / 1000
        var signedPath = "/x/1.1/oauth/invalidate_token.json"
    }

    private func token(_ fixture: SandboxFixture) throws -> (token: String, secret: String) {
        var order = SandboxOrder.Tokens()
        order.clientID = "x-consumer"
        order.realm = "oauth1"
        let made = try fixture.sandbox.issueTokens(order, at: .x)[0]
        #expect(made.refreshToken == nil)
        #expect(made.accessToken.hasPrefix("\(made.subject)-"))
        return (made.accessToken, try #require(made.tokenSecret))
    }

    /// Signs after RFC 5849 §3.4, written apart from the code under test.
    private func invalidate(
        _ fixture: SandboxFixture,
        _ token: String,
        _ signing: Signing
    ) async throws -> String {
        let parameters = [
            ("oauth_consumer_key", "x-consumer"), ("oauth_nonce", signing.nonce),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", "\(signing.timestamp)"), ("oauth_token", token),
            ("oauth_version", "1.0"),
        ]
        let joined = parameters.map { "\($0)=\($1)" }.joined(separator: "&")
        let address = fixture.sandbox.baseURL + signing.signedPath
        let base = "POST&" + encoded(address) + "&" + encoded(joined)
        let code = KeyedHash.sha1(
            key: Array("\(signing.consumerSecret)&\(signing.tokenSecret)".utf8),
            message: Array(base.utf8)
        )
        let signature = encoded(Data(code).base64EncodedString())
        let header = (parameters + [("oauth_signature", signature)])
            .map { "\($0)=\"\($1)\"" }
            .joined(separator: ", ")
        let answer = try await fixture.send(
            .POST,
            "/x/1.1/oauth/invalidate_token.json",
            headers: ["authorization": "OAuth \(header)"]
        )
        guard answer.status != 200 else { return answer.body }
        return "\(answer.status) \(answer.body.filter(\.isNumber))"
    }

    private func encoded(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return text.utf8.map { byte in
            plain.contains(byte)
                ? String(Unicode.Scalar(byte))
                : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    @Test("a signed call invalidates its token once; the second time is 401 with code 89")
    func invalidate() async throws {
        try await SandboxFixture.with { fixture in
            let (token, secret) = try token(fixture)
            let first = try await invalidate(fixture, token, Signing(tokenSecret: secret))
            #expect(first == #"{"access_token":"\#(token)"}"#)
            let second = try await invalidate(fixture, token, Signing(tokenSecret: secret))
            #expect(second == "401 89")
            #expect(fixture.sandbox.log().map(\.outcome) == [.revoked, .refused])
            #expect(fixture.sandbox.log().last?.error == "89")
        }
    }

    @Test("a wrong signature, a stale time, a used nonce and an unknown token change nothing")
    func refusals() async throws {
        try await SandboxFixture.with { fixture in
            let (token, secret) = try token(fixture)
            let changes: [(String, (inout Signing) -> Void)] = [
                ("401 32", { $0.tokenSecret = "wrong" }),
                ("401 32", { $0.consumerSecret = "wrong" }),
                ("401 32", { $0.signedPath = "/x/1.1/oauth/other.json" }),
                ("401 135", { $0.timestamp -= 3600 }),
            ]
            for (expected, change) in changes {
                var signing = Signing(tokenSecret: secret)
                change(&signing)
                #expect(try await invalidate(fixture, token, signing) == expected)
            }
            let unknown = try await invalidate(fixture, "1-x", Signing(tokenSecret: secret))
            #expect(unknown == "401 89")
            let signing = Signing(tokenSecret: secret)
            #expect(try await invalidate(fixture, token, signing).hasPrefix("{"))
            // The very same call again: the nonce is used.
            #expect(try await invalidate(fixture, token, signing) == "401 32")
        }
    }
}
