import Cryptography
import Encoding
import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("Facebook")
struct FacebookTests {
    private static let app = "1234567890123456"
    private static let secret = "facebook-app-secret"
    private static let appToken = "\(app)|\(secret)"

    private func graph(
        _ fixture: SandboxFixture,
        _ method: HTTPMethod,
        _ path: String,
        _ query: [String: String]
    ) async throws -> SandboxFixture.Answer {
        let text = SandboxFixture.encoded(query)
        return try await fixture.send(method, "/facebook/v25.0/\(path)?\(text)")
    }

    private func delete(
        _ fixture: SandboxFixture,
        _ user: String,
        token: String = appToken
    ) async throws -> SandboxFixture.Answer {
        try await graph(fixture, .DELETE, "\(user)/permissions", ["access_token": token])
    }

    /// Status, code and subcode of Graph's error.
    private func verdict(_ answer: SandboxFixture.Answer) throws -> String {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        struct Body: Decodable {
            struct Failure: Decodable {
                let code: Int
                let error_subcode: Int?
            }

            let error: Failure?
        }
        let body = try JSONDecoder().decode(Body.self, from: Data(answer.body.utf8))
        guard let failure = body.error else { return "\(answer.status)" }
        return "\(answer.status) \(failure.code)/\(failure.error_subcode ?? 0)"
    }

    private func claims(
        _ notification: SandboxNotification
    ) throws -> (body: String, isSigned: Bool) {
        let parts = notification.body.dropFirst("signed_request=".count).split(separator: ".")
        let code = KeyedHash.sha256(
            key: Array(Self.secret.utf8),
            message: Array(parts[1].utf8)
        )
        let payload = try #require(Base64URL.decode(parts[1].utf8))
        return (String(decoding: payload, as: UTF8.self), Base64URL.text(code) == parts[0])
    }

    @Test("the app token alone cuts a user's grant, and every user token with it")
    func deletion() async throws {
        try await SandboxFixture.with { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            let answer = try await delete(fixture, user.subject)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"success":true}"#)
            #expect(try fixture.states(.facebook) == ["user-1": .revoked])
            let me = try await graph(fixture, .GET, "me", ["access_token": user.accessToken])
            #expect(try verdict(me) == "400 190/458")
            let again = try await delete(fixture, "me", token: user.accessToken)
            #expect(try verdict(again) == "400 190/458")
            // Without a version, as with one.
            let unversioned = try await fixture.send(
                .GET,
                "/facebook/me?\(SandboxFixture.encoded(["access_token": user.accessToken]))"
            )
            #expect(try verdict(unversioned) == "400 190/458")
        }
    }

    @Test("a user token works as well, also when it comes as a bearer, but only for its user")
    func userToken() async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.Tokens(count: 2)
            order.userPrefix = "u"
            let users = try fixture.sandbox.issueTokens(order, at: .facebook)
            let other = try await delete(
                fixture,
                users[1].subject,
                token: users[0].accessToken
            )
            #expect(try verdict(other) == "400 100/33")
            let own = try await fixture.send(
                .DELETE,
                "/facebook/v25.0/me/permissions",
                headers: ["authorization": "Bearer \(users[0].accessToken)"]
            )
            #expect(own.status == 200)
            #expect(try fixture.states(.facebook) == ["u1": .revoked, "u2": .live])
        }
    }

    @Test("an expired user token is 190/463 while the app token still works")
    func expired() async throws {
        try await SandboxFixture.with { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            fixture.sandbox.setClockOffset(.seconds(61 * 86_400))
            let answer = try await delete(fixture, user.subject, token: user.accessToken)
            #expect(try verdict(answer) == "400 190/463")
            #expect(try await delete(fixture, user.subject).status == 200)
        }
    }

    @Test(
        "a second deletion answers what is configured, since Meta does not say",
        arguments: [
            (FacebookConfiguration.RepeatedDelete.notFound, "400 100/33"),
            (.notInstalled, "400 190/458"), (.success, "200"),
        ]
    )
    func repeated(answer: FacebookConfiguration.RepeatedDelete, expected: String) async throws {
        try await SandboxFixture.with { configuration in
            configuration.facebook.repeatedDelete = answer
        } body: { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            #expect(try await delete(fixture, user.subject).status == 200)
            let again = try await delete(fixture, user.subject)
            #expect(try verdict(again) == expected)
            #expect(fixture.sandbox.log().map(\.outcome).first == .revoked)
            let left = try await graph(
                fixture,
                .GET,
                "\(user.subject)/permissions",
                ["access_token": Self.appToken]
            )
            #expect(left.body == #"{"data":[]}"#)
        }
    }

    @Test(
        "wrong callers are 400 with the vendor's codes",
        arguments: [
            ("\(app)|wrong", "400 190/0"), ("99|x", "400 101/0"), ("EAAgarbage", "400 190/0"),
        ]
    )
    func wrongCallers(token: String, expected: String) async throws {
        try await SandboxFixture.with { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            let answer = try await delete(fixture, user.subject, token: token)
            #expect(try verdict(answer) == expected)
            #expect(try fixture.states(.facebook) == ["user-1": .live])
        }
    }

    @Test("ids are app-scoped, 'me' needs a user token, and a token is needed at all")
    func identifiers() async throws {
        try await SandboxFixture.with { configuration in
            configuration.facebook.clients.append(ClientRegistration("777", secret: "s"))
        } body: { fixture in
            var order = SandboxOrder.Tokens()
            order.clientID = "777"
            let foreign = try fixture.sandbox.issueTokens(order, at: .facebook)[0]
            let own = try fixture.sandbox.issueTokens(at: .facebook)[0]
            #expect(foreign.subject != own.subject)
            #expect(try verdict(await delete(fixture, foreign.subject)) == "400 100/33")
            #expect(try verdict(await delete(fixture, "me")) == "400 2500/0")
            let none = try await graph(fixture, .DELETE, "\(own.subject)/permissions", [:])
            #expect(try verdict(none) == "400 104/0")
        }
    }

    @Test("appsecret_proof is checked when it is there, and needed when the app says so")
    func proof() async throws {
        for isRequired in [false, true] {
            try await SandboxFixture.with { configuration in
                configuration.facebook.clients[0].requiresProof = isRequired
            } body: { fixture in
                let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
                let code = KeyedHash.sha256(
                    key: Array(Self.secret.utf8),
                    message: Array(Self.appToken.utf8)
                )
                for (proof, expected) in [
                    (nil, isRequired ? "400 100/0" : "200"), ("00", "400 100/0"),
                    (Hexadecimal.text(code), "200"),
                ] {
                    var query = ["access_token": Self.appToken]
                    query["appsecret_proof"] = proof
                    let answer = try await graph(
                        fixture,
                        .GET,
                        "\(user.subject)/permissions",
                        query
                    )
                    #expect(try verdict(answer) == expected)
                    let isAskedFor = answer.body.contains("require an appsecret_proof argument")
                    #expect(isAskedFor == (isRequired && proof == nil))
                }
            }
        }
    }

    @Test("one permission is dropped without an end of the grant")
    func onePermission() async throws {
        try await SandboxFixture.with { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            let token = ["access_token": Self.appToken]
            let path = "\(user.subject)/permissions"
            let answer = try await graph(fixture, .DELETE, "\(path)/email", token)
            #expect(answer.status == 200)
            let rows = try await graph(fixture, .GET, path, token).body
            #expect(rows.contains(#"{"permission":"email","status":"declined"}"#))
            #expect(rows.contains(#"{"permission":"public_profile","status":"granted"}"#))
            #expect(try fixture.states(.facebook) == ["user-1": .live])
        }
    }

    @Test("debug_token is 200 for live and dead tokens and tells them apart")
    func debug() async throws {
        try await SandboxFixture.with { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            let debug = { (token: String) in
                try await graph(
                    fixture,
                    .GET,
                    "debug_token",
                    ["input_token": token, "access_token": Self.appToken]
                )
            }
            let live = try await debug(user.accessToken)
            #expect(live.status == 200)
            #expect(live.body.contains(#""is_valid":true"#))
            #expect(live.body.contains(user.subject))
            _ = try await delete(fixture, user.subject)
            let dead = try await debug(user.accessToken)
            #expect(dead.status == 200)
            #expect(dead.body.contains(#""is_valid":false"#))
            #expect(dead.body.contains(#""subcode":458"#))
            #expect(try await debug("garbage").body.contains(#""is_valid":false"#))
        }
    }

    @Test("a code is exchanged once, by the app with its secret")
    func exchange() async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(.init(user: "alice"), at: .facebook)
            #expect(signIn.idToken == nil)
            var query = ["client_id": Self.app, "client_secret": "wrong"]
            query["code"] = signIn.code
            let wrong = try await graph(fixture, .GET, "oauth/access_token", query)
            #expect(try verdict(wrong) == "400 1/0")
            query["client_secret"] = Self.secret
            let good = try await graph(fixture, .GET, "oauth/access_token", query)
            #expect(try good.text("access_token").hasPrefix("EAA"))
            #expect(try good.json["refresh_token"] == nil)
            let used = try await graph(fixture, .GET, "oauth/access_token", query)
            #expect(try verdict(used) == "400 100/36009")
        }
    }

    @Test("Limited Login has an id token only, and is uninstalled with a fresh one")
    func limited() async throws {
        try await SandboxFixture.with { fixture in
            var order = SandboxOrder.SignIn(user: "alice")
            order.realm = "limited"
            order.nonce = "n-1"
            let signIn = try fixture.sandbox.signIn(order, at: .facebook)
            #expect(signIn.code == nil)
            let idToken = try #require(signIn.idToken)
            let path = "/facebook/.well-known/openid-configuration/"
            let discovery = try await fixture.send(.GET, path)
            #expect(try await fixture.send(.GET, String(path.dropLast())).status == 404)
            let claims = try await fixture.claims(
                idToken,
                IDClaims.self,
                keysAt: "/facebook/.well-known/oauth/openid/jwks/"
            )
            #expect(claims.iss == (try discovery.text("issuer")))
            #expect(claims.aud == Self.app)
            #expect(claims.nonce == "n-1")
            // The app token does not reach it.
            #expect(try verdict(await delete(fixture, signIn.subject)) == "400 100/33")
            let uninstall = { (token: String, app: String) in
                try await fixture.post(
                    "/facebook/platform/uninstall/",
                    ["id_token": token, "app_id": app]
                )
            }
            #expect(try verdict(await uninstall(idToken + "x", Self.app)) == "400 190/0")
            #expect(try verdict(await uninstall(idToken, "99")) == "400 190/0")
            fixture.sandbox.setClockOffset(.seconds(3601))
            #expect(try verdict(await uninstall(idToken, Self.app)) == "400 190/463")
            fixture.sandbox.setClockOffset(.zero)
            #expect(try await uninstall(idToken, Self.app).status == 200)
            #expect(try verdict(await uninstall(idToken, Self.app)) == "400 190/458")
            #expect(try fixture.states(.facebook) == ["alice": .revoked])
        }
    }

    @Test("the callbacks carry a signed request", arguments: ["deauthorize", "data-deletion"])
    func signedRequest(event: String) async throws {
        try await SandboxFixture.with { fixture in
            let signIn = try fixture.sandbox.signIn(.init(user: "alice"), at: .facebook)
            let notification = try #require(
                try fixture.sandbox.withdraw(.init(user: "alice", event: event), at: .facebook)
            )
            let (body, isSigned) = try claims(notification)
            #expect(isSigned)
            #expect(body.contains(#""user_id":"\#(signIn.subject)""#))
            #expect(body.contains(#""algorithm":"HMAC-SHA256""#))
            #expect(try fixture.states(.facebook) == ["alice": .revoked])
        }
    }

    @Test("a limit is 400 with a code, not 429")
    func throttled() async throws {
        try await SandboxFixture.with { fixture in
            let user = try fixture.sandbox.issueTokens(at: .facebook)[0]
            fixture.sandbox.inject(.throttled, at: .revoke, of: .facebook)
            let answer = try await delete(fixture, user.subject)
            #expect(try verdict(answer) == "400 341/0")
            #expect(answer.headers.first(name: "retry-after") == nil)
        }
    }
}
