import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("OAuth 2")
struct OAuth2Tests {
    private static let basic = SandboxFixture.basic("app", "app-secret")

    private func exchange(
        _ fixture: SandboxFixture,
        _ signIn: SandboxSignIn,
        changing fields: [String: String] = [:]
    ) async throws -> SandboxFixture.Answer {
        let form = ["grant_type": "authorization_code", "code": try #require(signIn.code)]
        return try await fixture.post(
            "/oauth2/token",
            form.merging(fields) { $1 },
            headers: Self.basic
        )
    }

    private func refresh(
        _ fixture: SandboxFixture,
        _ token: String
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post(
            "/oauth2/token",
            ["grant_type": "refresh_token", "refresh_token": token],
            headers: Self.basic
        )
    }

    private func revoke(
        _ fixture: SandboxFixture,
        _ token: String,
        hint: String = "refresh_token"
    ) async throws -> SandboxFixture.Answer {
        try await fixture.post(
            "/oauth2/revoke",
            ["token": token, "token_type_hint": hint],
            headers: Self.basic
        )
    }

    private func isActive(_ fixture: SandboxFixture, _ token: String) async throws -> Bool {
        let answer = try await fixture.post(
            "/oauth2/introspect",
            ["token": token],
            headers: Self.basic
        )
        #expect(answer.status == 200)
        if try answer.text("active") == "false" {
            #expect(try answer.json.count == 1)
            return false
        }
        return true
    }

    @Test("both forms of discovery name the issuer and its endpoints, no other path does")
    func discovery() async throws {
        try await SandboxFixture.with { fixture in
            let issuer = fixture.sandbox.baseURL(of: .oauth2)
            for path in [
                "/oauth2/.well-known/openid-configuration",
                "/.well-known/oauth-authorization-server/oauth2",
            ] {
                let answer = try await fixture.send(.GET, path)
                #expect(try answer.text("issuer") == issuer)
                #expect(try answer.text("revocation_endpoint") == "\(issuer)/revoke")
                #expect(try answer.text("introspection_endpoint") == "\(issuer)/introspect")
            }
            let other = "/oauth2/.well-known/oauth-authorization-server"
            #expect(try await fixture.send(.GET, other).status == 404)
        }
    }

    @Test("a code is exchanged once; its second use ends what the first one gave")
    func exchange() async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.SignIn(user: "alice")
            order.nonce = "n-1"
            let signIn = try fixture.sandbox.signIn(order, at: .oauth2)
            let tokens = try await exchange(fixture, signIn)
            #expect(tokens.status == 200)
            for text in [try tokens.text("id_token"), try #require(signIn.idToken)] {
                let claims = try await fixture.claims(
                    text,
                    IDClaims.self,
                    keysAt: "/oauth2/jwks"
                )
                #expect(claims.iss == fixture.sandbox.baseURL(of: .oauth2))
                #expect(claims.aud == "app")
                #expect(claims.sub == signIn.subject)
                #expect(claims.nonce == "n-1")
            }
            let token = try tokens.text("refresh_token")
            #expect(try await isActive(fixture, token))
            #expect(try await exchange(fixture, signIn).verdict == "400 'invalid_grant'")
            #expect(try await !isActive(fixture, token))
            #expect(try await refresh(fixture, token).verdict == "400 'invalid_grant'")
        }
    }

    @Test("redirect URI and PKCE verifier must be those of the sign-in, the code not too old")
    func codeRules() async throws {
        try await SandboxFixture.with { fixture in
            let order: (String?, String?, Int64) throws -> SandboxSignIn = {
                var order = SandboxOrder.SignIn(user: "alice")
                order.redirectURI = $0
                order.codeChallenge = $1.map { ProofKey.challenge(of: $0) }
                order.ageSeconds = $2
                return try fixture.sandbox.signIn(order, at: .oauth2)
            }
            let redirect = "https://app.example/cb"
            let both = ["redirect_uri": redirect, "code_verifier": "verifier-1"]
            for (signIn, fields, status) in [
                (try order(redirect, "verifier-1", 0), both, 200),
                (try order(redirect, "verifier-1", 0), ["redirect_uri": redirect], 400),
                (try order(redirect, "verifier-1", 0), ["code_verifier": "verifier-1"], 400),
                (try order(redirect, "verifier-2", 0), both, 400),
                (try order(redirect, nil, 0), both, 400),
                (try order(redirect, "verifier-1", 700), both, 400),
            ] {
                let answer = try await exchange(fixture, signIn, changing: fields)
                #expect(answer.status == status)
            }
        }
    }

    @Test("a browser gets a code by the authorization endpoint, with its state")
    func authorize() async throws {
        try await SandboxFixture.with { fixture in
            let answer = try await fixture.send(
                .GET,
                "/oauth2/authorize?response_type=code&client_id=app&login_hint=alice"
                    + "&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&state=a%26b"
            )
            #expect(answer.status == 302)
            let location = try #require(answer.headers.first(name: "location"))
            let found = try #require(
                location.wholeMatch(of: /https:\/\/app\.example\/cb\?code=(.+)&state=a%26b/)
            )
            let tokens = try await fixture.post(
                "/oauth2/token",
                [
                    "grant_type": "authorization_code", "code": String(found.1),
                    "redirect_uri": "https://app.example/cb",
                ],
                headers: Self.basic
            )
            #expect(tokens.status == 200)
        }
    }

    @Test("rotation replaces the token; with detection the old one's use ends the new one")
    func rotation() async throws {
        for rotation in OAuth2Configuration.Rotation.allCases {
            try await SandboxFixture.with { configuration in
                configuration.oauth2.rotation = rotation
            } body: { fixture in
                let first = try fixture.sandbox.issueTokens(at: .oauth2)[0]
                let token = try #require(first.refreshToken)
                let second = try await refresh(fixture, token)
                #expect(second.status == 200)
                guard rotation != .off else {
                    #expect(try second.json["refresh_token"] == nil)
                    #expect(try await refresh(fixture, token).status == 200)
                    return
                }
                let rotated = try second.text("refresh_token")
                #expect(try await refresh(fixture, token).verdict == "400 'invalid_grant'")
                #expect(try await isActive(fixture, rotated) == (rotation == .rotate))
            }
        }
    }

    @Test(
        "a revoke reaches as far as configured",
        arguments: [
            (OAuth2Configuration.Reach.token, "refresh", "access+other"),
            (.token, "access", "refresh+other"),
            (.signIn, "refresh", "other"),
            (.signIn, "access", "refresh+other"),
            (.grant, "refresh", ""),
            (.grant, "access", ""),
        ]
    )
    func reach(
        reach: OAuth2Configuration.Reach,
        victim: String,
        survivors: String
    ) async throws {
        try await SandboxFixture.with { configuration in
            configuration.oauth2.reach = reach
        } body: { fixture in
            let first = try fixture.sandbox.issueTokens(at: .oauth2)[0]
            let second = try fixture.sandbox.issueTokens(at: .oauth2)[0]
            let tokens = [
                ("refresh", try #require(first.refreshToken)), ("access", first.accessToken),
                ("other", try #require(second.refreshToken)),
            ]
            let chosen = try #require(tokens.first { $0.0 == victim }).1
            // The wrong hint changes nothing.
            let hint = victim == "access" ? "refresh_token" : "access_token"
            #expect(try await revoke(fixture, chosen, hint: hint).verdict == "200")
            var live: [String] = []
            for (name, token) in tokens where try await isActive(fixture, token) {
                live.append(name)
            }
            #expect(live.joined(separator: "+") == survivors)
            #expect(
                try fixture.states(.oauth2) == ["user-1": reach == .grant ? .revoked : .live]
            )
        }
    }

    @Test(
        "an unknown or dead token is 200 by the book, or what others answer",
        arguments: [
            (OAuth2Configuration.UnknownToken.ok, "200"),
            (.errorInBody, "200 'invalid_token'"), (.refused, "400 'invalid_token'"),
        ]
    )
    func unknown(answer: OAuth2Configuration.UnknownToken, verdict: String) async throws {
        try await SandboxFixture.with { configuration in
            configuration.oauth2.unknownToken = answer
        } body: { fixture in
            let token = try #require(try fixture.sandbox.issueTokens(at: .oauth2)[0].refreshToken)
            #expect(try await revoke(fixture, "garbage").verdict == verdict)
            #expect(try await revoke(fixture, token).verdict == "200")
            #expect(try await revoke(fixture, token).verdict == verdict)
            #expect(
                fixture.sandbox.log().suffix(2).map(\.outcome)
                    == [.revoked, answer == .refused ? .refused : .ignored]
            )
        }
    }

    @Test("another client's token, a missing token and an unsupported kind are refused")
    func refusedRevokes() async throws {
        try await SandboxFixture.with { configuration in
            configuration.oauth2.revokesAccessTokens = false
            configuration.oauth2.clients.append(ClientRegistration("other", secret: "s"))
        } body: { fixture in
            var order = SandboxOrder.Tokens()
            order.clientID = "other"
            let foreign = try fixture.sandbox.issueTokens(order, at: .oauth2)[0]
            let own = try fixture.sandbox.issueTokens(at: .oauth2)[0]
            let token = try #require(foreign.refreshToken)
            #expect(try await revoke(fixture, token).verdict == "400 'invalid_request'")
            #expect(try await !isActive(fixture, token))
            #expect(try await refresh(fixture, token).verdict == "400 'invalid_grant'")
            #expect(
                try await revoke(fixture, own.accessToken).verdict
                    == "400 'unsupported_token_type'"
            )
            let missing = try await fixture.post("/oauth2/revoke", [:], headers: Self.basic)
            #expect(try missing.verdict == "400 'invalid_request'")
        }
    }

    @Test("an access token ends after its hour")
    func expiry() async throws {
        try await SandboxFixture.with { fixture in
            let tokens = try fixture.sandbox.issueTokens(at: .oauth2)[0]
            #expect(try await isActive(fixture, tokens.accessToken))
            fixture.sandbox.setClockOffset(.seconds(3600))
            #expect(try await !isActive(fixture, tokens.accessToken))
            #expect(try await isActive(fixture, try #require(tokens.refreshToken)))
        }
    }

    @Test("faults hit the family that they are meant for")
    func faults() async throws {
        try await SandboxFixture.with { fixture in
            fixture.sandbox.inject(.unavailable, at: .revoke, of: .google)
            #expect(try await revoke(fixture, "x").status == 200)
            fixture.sandbox.inject(.unavailable, at: .revoke, of: .oauth2)
            let answer = try await revoke(fixture, "x")
            #expect(answer.status == 503)
            #expect(answer.headers.first(name: "retry-after") == "1")
            #expect(fixture.sandbox.log().last?.outcome == CallRecord.Outcome.none)
        }
    }

    @Test("a shared-signals token has sub_id, neither sub nor exp, and cuts what it says")
    func sharedSignal() async throws {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        struct Claims: Decodable {
            struct Subject: Decodable {
                let format: String
                let sub: String
            }

            let aud: String
            let jti: String
            let sub_id: Subject
            let sub: String?
            let exp: Int64?
            let events: [String: [String: Int64]]
        }
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(.init(user: "alice"), at: .oauth2)
            let disabled = try #require(
                try fixture.sandbox.withdraw(
                    .init(user: "alice", event: "account-disabled"),
                    at: .oauth2
                )
            )
            #expect(disabled.headers["content-type"] == "application/secevent+jwt")
            #expect(try fixture.states(.oauth2) == ["alice": .live])
            let purged = try #require(
                try fixture.sandbox.withdraw(
                    .init(user: "alice", event: "account-purged"),
                    at: .oauth2
                )
            )
            #expect(try fixture.states(.oauth2) == ["alice": .revoked])
            #expect(JSONWebToken(purged.body)?.header.typ == "secevent+jwt")
            let claims = try await fixture.claims(
                purged.body,
                Claims.self,
                keysAt: "/oauth2/jwks"
            )
            #expect(claims.sub_id.sub == signIn.subject)
            #expect(claims.sub_id.format == "iss_sub")
            #expect(claims.sub == nil && claims.exp == nil)
            let uri = "https://schemas.openid.net/secevent/risc/event-type/account-purged"
            #expect(Array(claims.events.keys) == [uri])
        }
    }
}
