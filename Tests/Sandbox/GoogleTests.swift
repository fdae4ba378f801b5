import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("Google")
struct GoogleTests {
    private static let web = "1234567890-web.apps.googleusercontent.com"
    private static let ios = "1234567890-ios.apps.googleusercontent.com"
    private static let secret = "google-secret"

    private func tokens(
        _ fixture: SandboxFixture,
        clientID: String = web
    ) throws -> SandboxToken {
        var order = SandboxOrder.Tokens()
        order.clientID = clientID
        return try fixture.sandbox.issueTokens(order, at: .google)[0]
    }

    private func refresh(
        _ fixture: SandboxFixture,
        _ token: String,
        clientID: String = web
    ) async throws -> SandboxFixture.Answer {
        var form = ["grant_type": "refresh_token", "refresh_token": token]
        form["client_id"] = clientID
        form["client_secret"] = clientID == Self.web ? Self.secret : nil
        return try await fixture.post("/google/token", form)
    }

    @Test("discovery names Google's issuer and this sandbox's endpoints")
    func discovery() async throws {
        try await SandboxFixture.with { fixture in
            let base = fixture.sandbox.baseURL(of: .google)
            let openid = try await fixture.send(.GET, "/google/.well-known/openid-configuration")
            #expect(try openid.text("issuer") == "https://accounts.google.com")
            #expect(try openid.text("revocation_endpoint") == "\(base)/revoke")
            let risc = try await fixture.send(.GET, "/google/.well-known/risc-configuration")
            #expect(try risc.text("issuer") == "https://accounts.google.com/")
            #expect(try risc.text("jwks_uri") == "\(base)/oauth2/v3/certs")
        }
    }

    @Test("a code gives tokens and an id token with the plain nonce; a dead one says Bad Request")
    func exchange() async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.SignIn(user: "alice")
            order.nonce = "n-1"
            let signIn = try fixture.sandbox.signIn(order, at: .google)
            let form = [
                "grant_type": "authorization_code", "code": try #require(signIn.code),
                "client_id": Self.web,
                "client_secret": Self.secret,
            ]
            let answer = try await fixture.post("/google/token", form)
            #expect(try answer.text("access_token").hasPrefix("ya29."))
            #expect(try answer.text("refresh_token").hasPrefix("1//"))
            let claims = try await fixture.claims(
                try answer.text("id_token"),
                IDClaims.self,
                keysAt: "/google/oauth2/v3/certs"
            )
            #expect(claims.iss == "https://accounts.google.com")
            #expect(claims.aud == Self.web)
            #expect(claims.sub == signIn.subject)
            #expect(claims.sub.wholeMatch(of: /1[0-9]{20}/) != nil)
            #expect(claims.nonce == "n-1")
            let again = try await fixture.post("/google/token", form)
            #expect(try again.verdict == "400 'invalid_grant'")
            #expect(try again.text("error_description") == "Bad Request")
        }
    }

    @Test(
        "a revoke needs no client, takes its token from query or body, and cuts the whole project",
        arguments: [true, false]
    )
    func revoke(isInQuery: Bool) async throws {
        try await SandboxFixture.with { fixture in
            let web = try tokens(fixture)
            let ios = try tokens(fixture, clientID: Self.ios)
            let token = try #require(web.refreshToken)
            let other = try #require(ios.refreshToken)
            #expect(try await refresh(fixture, other, clientID: Self.ios).status == 200)
            let answer =
                if isInQuery {
                    try await fixture.send(
                        .POST,
                        "/google/revoke?\(SandboxFixture.encoded(["token": token]))"
                    )
                } else {
                    try await fixture.post("/google/revoke", ["token": token])
                }
            #expect(answer.status == 200)
            #expect(answer.body == "{}")
            for (dead, clientID) in [(token, Self.web), (other, Self.ios)] {
                let answer = try await refresh(fixture, dead, clientID: clientID)
                #expect(try answer.verdict == "400 'invalid_grant'")
                #expect(
                    try answer.text("error_description") == "Token has been expired or revoked."
                )
            }
            #expect(try fixture.states(.google) == ["user-1": .revoked])
        }
    }

    @Test("an access token cuts as much as a refresh token does")
    func accessToken() async throws {
        try await SandboxFixture.with { fixture in
            let made = try tokens(fixture)
            let answer = try await fixture.post("/google/revoke", ["token": made.accessToken])
            #expect(answer.status == 200)
            let token = try #require(made.refreshToken)
            #expect(try await refresh(fixture, token).status == 400)
        }
    }

    @Test("unknown, expired and revoked tokens are errors, and an expired one leaves the grant")
    func deadTokens() async throws {
        try await SandboxFixture.with { fixture in
            let revoke = { (token: String) in
                try await fixture.post("/google/revoke", ["token": token])
            }
            let missing = try await fixture.post("/google/revoke", [:])
            #expect(try missing.verdict == "400 'invalid_request'")
            #expect(try await revoke("garbage").verdict == "400 'invalid_token'")
            let made = try tokens(fixture)
            fixture.sandbox.setClockOffset(.seconds(3600))
            #expect(try await revoke(made.accessToken).verdict == "400 'invalid_token'")
            #expect(try fixture.states(.google) == ["user-1": .live])
            let token = try #require(made.refreshToken)
            #expect(try await revoke(token).status == 200)
            #expect(try await revoke(token).verdict == "400 'invalid_token'")
            #expect(try await fixture.send(.GET, "/google/revoke?token=x").status == 404)
        }
    }

    @Test("a refresh token dies after six idle months, and each use begins them again")
    func idle() async throws {
        try await SandboxFixture.with { fixture in
            let token = try #require(try tokens(fixture).refreshToken)
            fixture.sandbox.setClockOffset(.seconds(182 * 86_400))
            #expect(try await refresh(fixture, token).status == 200)
            fixture.sandbox.setClockOffset(.seconds(364 * 86_400))
            #expect(try await refresh(fixture, token).status == 200)
            fixture.sandbox.setClockOffset(.seconds(550 * 86_400))
            #expect(try await refresh(fixture, token).verdict == "400 'invalid_grant'")
        }
    }

    @Test("a client that is unknown or has the wrong secret is 401, whatever the token")
    func clients() async throws {
        try await SandboxFixture.with { fixture in
            let form = ["grant_type": "refresh_token", "refresh_token": "x"]
            for (name, secret) in [("nobody", Self.secret), (Self.web, "wrong")] {
                let client = ["client_id": name, "client_secret": secret]
                let answer = try await fixture.post(
                    "/google/token",
                    form.merging(client) { $1 }
                )
                #expect(try answer.verdict == "401 'invalid_client'")
            }
            let foreign = try #require(try tokens(fixture, clientID: Self.ios).refreshToken)
            let answer = try await refresh(fixture, foreign)
            #expect(try answer.verdict == "401 'unauthorized_client'")
        }
    }

    @Test(
        "a grant type that is missing or unknown is refused in Google's words",
        arguments: [
            ("", "'Required parameter is missing: grant_type'"),
            ("password", "'Invalid grant_type: password'"),
            ("refresh_token", "'Missing required parameter: refresh_token'"),
        ]
    )
    func grantTypes(type: String, text: String) async throws {
        try await SandboxFixture.with { fixture in
            let client = ["client_id": Self.web, "client_secret": Self.secret]
            let form = client.merging(["grant_type": type]) { $1 }
            let answer = try await fixture.post("/google/token", form)
            #expect(try answer.json["error_description"] == text)
        }
    }

    @Test("a new key signs after a rotation, and old ones are withdrawn on demand")
    func rotation() async throws {
        try await SandboxFixture.with { fixture in
            let before = try fixture.sandbox.signIn(.init(user: "alice"), at: .google)
            let answer = try await fixture.send(
                .POST,
                "/sandbox/rotate-keys?provider=google",
                body: #"{"withdraw_old": true}"#,
                type: "application/json"
            )
            let after = try fixture.sandbox.signIn(.init(user: "alice"), at: .google)
            let kids = try [before, after].map { signIn in
                try #require(JSONWebToken(signIn.idToken ?? "")?.header.kid)
            }
            #expect(answer.body == "{\"kids\":[\"\(kids[1])\"]}\n")
            #expect(kids[0] != kids[1])
        }
    }

    @Test("a RISC event has its subject inside of the event; only some events cut the grant")
    func events() async throws {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        struct Claims: Decodable {
            struct Event: Decodable {
                struct Subject: Decodable {
                    let subject_type: String
                    let sub: String?
                    let token: String?
                }

                let subject: Subject
                let reason: String?
            }

            let iss: String
            let exp: Int64?
            let events: [String: Event]
        }
        try await SandboxFixture.with { fixture in
            let token = try #require(try tokens(fixture).refreshToken)
            for (event, state) in [
                ("account-disabled", SandboxGrant.State.live), ("sessions-revoked", .live),
                ("token-revoked", .live), ("tokens-revoked", .revoked),
            ] {
                var order = SandboxOrder.Withdrawal(user: "user-1", event: event)
                order.token = token
                let notification = try #require(try fixture.sandbox.withdraw(order, at: .google))
                let claims = try await fixture.claims(
                    notification.body,
                    Claims.self,
                    keysAt: "/google/oauth2/v3/certs"
                )
                #expect(claims.iss == "https://accounts.google.com/")
                #expect(claims.exp == nil)
                let about = try #require(claims.events.first)
                #expect(about.key.hasSuffix("/event-type/\(event)"))
                #expect(about.value.reason == (event == "account-disabled" ? "hijacking" : nil))
                if event == "token-revoked" {
                    #expect(about.value.subject.token == String(token.prefix(16)))
                } else {
                    #expect(about.value.subject.subject_type == "iss-sub")
                }
                #expect(try fixture.states(.google) == ["user-1": state])
            }
            #expect(throws: SandboxError.self) {
                try fixture.sandbox.withdraw(.init(user: "user-1", event: "boredom"), at: .google)
            }
        }
    }
}
