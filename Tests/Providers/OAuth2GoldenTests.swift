import Engine
import Lifecycle
import Synchronization
import Testing
import Vault

@testable import HTTP
@testable import Providers

/// One answer to a revocation, and what a profile must make of it.
struct RevokeGolden: Sendable, CustomTestStringConvertible {
    let preset: String
    let reaction: RawServer.Reaction
    let answer: RevokeAnswer
    let note: String

    init(_ preset: String, _ status: Int, _ body: String, _ answer: RevokeAnswer) {
        self.preset = preset
        reaction = body.isEmpty ? .http(status) : .json(status, body)
        self.answer = answer
        note = "\(status) \(body)"
    }

    init(_ preset: String, _ note: String, _ reaction: RawServer.Reaction, _ answer: RevokeAnswer) {
        self.preset = preset
        self.reaction = reaction
        self.answer = answer
        self.note = note
    }

    var testDescription: String { "\(preset): \(note)" }

    var profile: OAuth2Profile {
        switch preset {
        case "standard": .standard
        case "google": .google
        default: OAuth2Profile.presets[preset] ?? .standard
        }
    }

    static let noBody204 = RawServer.Reaction.bytes(Array("HTTP/1.1 204 X\r\n\r\n".utf8))

    /// RFC 7009 §2.2 and §2.2.1, RFC 6749 §5.2.
    static let standard: [RevokeGolden] = [
        RevokeGolden("standard", 200, "", .success),
        RevokeGolden("standard", 200, "{}", .success),
        RevokeGolden("standard", "OK as text", Golden.text("OK", type: "text/plain"), .success),
        RevokeGolden("standard", "a page", Golden.html(200), .trouble(.unusable)),
        RevokeGolden("standard", 200, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("standard", 200, #"{"error":"server_error"}"#, .trouble(.unusable)),
        RevokeGolden("standard", 400, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("standard", 400, #"{"error":"unsupported_token_type"}"#, .unfit),
        RevokeGolden("standard", 400, #"{"error":"invalid_request"}"#, .trouble(.rejected)),
        RevokeGolden("standard", 400, #"{"error":"invalid_client"}"#, .trouble(.misconfigured)),
        RevokeGolden("standard", 401, #"{"error":"invalid_client"}"#, .trouble(.misconfigured)),
        RevokeGolden("standard", 401, "", .trouble(.misconfigured)),
        RevokeGolden("standard", "401 page", Golden.html(401), .trouble(.unusable)),
        RevokeGolden("standard", 404, "", .trouble(.rejected)),
        RevokeGolden("standard", 500, #"{"error":"invalid_token"}"#, .trouble(.unusable)),
        RevokeGolden(
            "standard",
            "503 and when to come back",
            .http(503, ["Retry-After: 7"]),
            .trouble(.throttled(retryAfter: .seconds(7)))
        ),
    ]

    static let google: [RevokeGolden] = [
        RevokeGolden("google", 200, "{}", .success),
        RevokeGolden("google", 200, "", .success),
        RevokeGolden("google", "a page", Golden.html(200), .trouble(.unusable)),
        RevokeGolden("google", 400, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("google", 400, #"{"error":"invalid_request"}"#, .trouble(.rejected)),
        RevokeGolden("google", 403, #"{"error":"invalid_token"}"#, .trouble(.rejected)),
    ]

    static let vendors: [RevokeGolden] = [
        RevokeGolden("slack", 200, #"{"ok":true,"revoked":true}"#, .success),
        RevokeGolden("slack", 200, #"{"ok":true,"revoked":false}"#, .trouble(.unusable)),
        RevokeGolden("slack", 200, #"{"ok":false,"error":"token_revoked"}"#, .alreadyInvalid),
        RevokeGolden("slack", 200, #"{"ok":false,"error":"fatal_error"}"#, .trouble(.unusable)),
        RevokeGolden("slack", 200, "", .trouble(.unusable)),
        RevokeGolden("twitch", 200, "", .success),
        RevokeGolden(
            "twitch",
            400,
            #"{"status":400,"message":"Invalid token"}"#,
            .alreadyInvalid
        ),
        RevokeGolden(
            "twitch",
            400,
            #"{"status":400,"message":"invalid client"}"#,
            .trouble(.rejected)
        ),
        RevokeGolden("dropbox", 200, "null", .success),
        RevokeGolden("dropbox", 200, "", .success),
        RevokeGolden(
            "dropbox",
            401,
            #"{"error_summary":"invalid_access_token/..","error":{".tag":"invalid_access_token"}}"#,
            .alreadyInvalid
        ),
        RevokeGolden("dropbox", 401, #"{"error_summary":"other/"}"#, .trouble(.rejected)),
        RevokeGolden("kakao", 200, #"{"id":123456789}"#, .success),
        RevokeGolden("kakao", 400, #"{"code":-101,"msg":"x"}"#, .trouble(.rejected)),
        RevokeGolden("naver", 200, #"{"access_token":"t","result":"success"}"#, .success),
        RevokeGolden("naver", 200, #"{"error":"invalid_request"}"#, .trouble(.unusable)),
        RevokeGolden("vk", 200, #"{"response":1}"#, .success),
        RevokeGolden("vk", 200, #"{"error":"invalid_token"}"#, .trouble(.unusable)),
        RevokeGolden("zoom", 200, #"{"status":"success"}"#, .success),
        RevokeGolden("zoom", 200, "{}", .trouble(.unusable)),
        RevokeGolden("salesforce", 200, "", .success),
        RevokeGolden("salesforce", 400, #"{"error":"invalid_token"}"#, .alreadyInvalid),
        RevokeGolden("auth0", 200, "", .unfit),
        RevokeGolden("discord", 200, "{}", .success),
    ]
}

@Suite("The OAuth 2 family")
struct OAuth2GoldenTests {
    @Test(
        "only a documented answer to a revocation decides anything",
        arguments: RevokeGolden.standard + RevokeGolden.google + RevokeGolden.vendors
    )
    func revoke(_ golden: RevokeGolden) async throws {
        try await RawServer.with(answering: golden.reaction) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, golden.profile)) { provider in
                let token = OAuth2Harness.credential(.accessToken)
                #expect(await provider.revoke(token) == golden.answer)
            }
        }
    }

    /// What each preset sends to revoke an access token `t0ken`: request line and last line.
    @Test(
        "a vendor gets the token where its documentation says",
        arguments: [
            ("standard", "POST /revoke", "token=t0ken&token_type_hint=access_token"),
            ("google", "POST /revoke", "token=t0ken"),
            (
                "linkedin", "POST /revoke",
                "token=t0ken&token_type_hint=access_token&client_id=app&client_secret=app-secret"
            ),
            ("slack", "POST /revoke", ""), ("kakao", "POST /revoke", ""),
            ("twitch", "POST /revoke", "token=t0ken&client_id=app"),
            ("vk", "POST /revoke", "access_token=t0ken&client_id=app"),
            ("salesforce", "POST /revoke", "token=t0ken"),
            (
                "naver",
                "POST /revoke?grant_type=delete&service_provider=NAVER&access_token=t0ken"
                    + "&client_id=app&client_secret=app-secret", ""
            ),
        ]
    )
    func wire(preset: String, line: String, body: String) async throws {
        let golden = RevokeGolden(preset, 200, "", .success)
        try await RawServer.with(answering: .http(200)) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, golden.profile)) { provider in
                _ = await provider.revoke(OAuth2Harness.credential(.accessToken))
            }
            let lines = try #require(server.requests.first).split(
                separator: "\r\n",
                omittingEmptySubsequences: false
            )
            #expect(lines.first == "\(line) HTTP/1.1")
            #expect(lines.last ?? "" == body)
            let bearer = lines.contains("Authorization: Bearer t0ken")
            #expect(bearer == ["slack", "kakao"].contains(preset))
            let basic = lines.contains("Authorization: Basic YXBwOmFwcC1zZWNyZXQ=")
            #expect(basic == (preset == "standard"))
        }
    }

    @Test("LINE: a refresh token becomes an access token, and the channel's own token ends the app")
    func line() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /client") {
                return Golden.text(#"{"access_token":"channel","token_type":"Bearer"}"#)
            }
            if request.hasPrefix("POST /token") {
                return Golden.text(#"{"access_token":"fresh","token_type":"Bearer"}"#)
            }
            return RevokeGolden.noBody204
        }
        try await RawServer.with(react: react) { server in
            let profile = try #require(OAuth2Profile.presets["line"])
            try await OAuth2Harness.with(OAuth2Harness.at(server, profile)) { provider in
                #expect(await provider.revoke(OAuth2Harness.credential(.refreshToken)) == .success)
            }
            #expect(server.requests.count == 3)
            let last = try #require(server.requests.last)
            #expect(last.contains("Authorization: Bearer channel\r\n"))
            #expect(last.hasSuffix(#"{"userAccessToken":"fresh"}"#))
        }
    }

    @Test("a refresh token that is refused is no token to revoke with")
    func refreshRefused() async throws {
        try await RawServer.with(answering: Golden.error("invalid_grant")) { server in
            let profile = try #require(OAuth2Profile.presets["dropbox"])
            try await OAuth2Harness.with(OAuth2Harness.at(server, profile)) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.revoke(token) == .alreadyInvalid)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test("inactive is death only for a client that was shown a live token of that kind before")
    func introspection() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("token=live")
                ? Golden.text(#"{"active":true}"#) : Golden.text(#"{"active":false}"#)
        }
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let dead = OAuth2Harness.credential(.refreshToken, "dead")
                #expect(await provider.check(dead) == .unknown)
                // Servers that introspect access tokens only say it of each live refresh token.
                let access = OAuth2Harness.credential(.accessToken, "live")
                #expect(await provider.check(access) == .live)
                #expect(await provider.check(dead) == .unknown)
                let live = OAuth2Harness.credential(.refreshToken, "live")
                #expect(await provider.check(live) == .live)
                #expect(await provider.check(dead) == .dead)
            }
        }
    }

    @Test("the first exchange of a client shows whether its kind of token is introspected")
    func introspectionOfAnExchange() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /token") {
                return Golden.text(
                    #"{"access_token":"a","token_type":"Bearer","refresh_token":"live"}"#
                )
            }
            return Golden.text(
                request.contains("token=live") ? #"{"active":true}"# : #"{"active":false}"#
            )
        }
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                for _ in 0..<2 {
                    let code = OAuth2Harness.credential(.authorizationCode)
                    guard case .exchanged = await provider.exchange(code) else {
                        Issue.record("the exchange brought no tokens")
                        return
                    }
                }
                let dead = OAuth2Harness.credential(.refreshToken, "dead")
                #expect(await provider.check(dead) == .dead)
                // It was asked about a live one, and said nothing of it.
                let access = OAuth2Harness.credential(.accessToken, "dead")
                #expect(await provider.check(access) == .unknown)
            }
            // Two exchanges, one question for each kind, two checks.
            #expect(server.requests.count == 6)
        }
    }

    @Test(
        "an introspection that is refused or strange says nothing about the token",
        arguments: [
            (RawServer.Reaction.http(401), Trouble.misconfigured),
            (Golden.error("invalid_client", status: 401), .misconfigured),
            (Golden.text(#"{"active":"false"}"#), .unusable), (Golden.html(200), .unusable),
            (.json(403, #"{"active":false}"#), .rejected),
        ]
    )
    func strangeIntrospection(reaction: RawServer.Reaction, trouble: Trouble) async throws {
        try await RawServer.with(answering: reaction) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .trouble(trouble))
            }
        }
    }

    @Test(
        "invalid_token and an undocumented success are settled by introspection",
        arguments: [
            (RawServer.Reaction.json(400, #"{"error":"invalid_token"}"#), true, "rejected"),
            (.json(400, #"{"error":"invalid_token"}"#), false, "already invalid"),
            (.json(200, #"{"error":"invalid_token"}"#), true, "rejected"),
            (.http(202), true, "unusable_answer"), (.http(202), false, "success"),
            (RevokeGolden.noBody204, true, "unusable_answer"),
            (RevokeGolden.noBody204, false, "success"),
            (.json(201, #"{"status":"queued"}"#), false, "success"),
            (Golden.html(202), false, "unusable_answer"), (.http(200), true, "success"),
        ]
    )
    func settled(reaction: RawServer.Reaction, staysActive: Bool, outcome: String) async throws {
        let hasRevoked = Mutex(false)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /revoke") {
                hasRevoked.withLock { $0 = true }
                return reaction
            }
            let isActive = hasRevoked.withLock { !$0 } || staysActive
            return Golden.text(#"{"active":\#(isActive)}"#)
        }
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .live)
                let said =
                    switch await provider.revoke(token) {
                    case .success: "success"
                    case .alreadyInvalid: "already invalid"
                    case .trouble(let trouble): trouble.code
                    case .grantGone, .unfit, .userOnly: "another answer"
                    }
                #expect(said == outcome)
            }
        }
    }

    @Test(
        "the self-check takes any refusal of a code that cannot exist, and nothing else",
        arguments: [
            (RawServer.Reaction.http(403), nil), (.json(403, #"{"message":"Forbidden"}"#), nil),
            (.http(400), nil), (Golden.error("invalid_grant"), nil),
            (Golden.error("invalid_request"), nil),
            (Golden.error("invalid_client"), Trouble.misconfigured),
            (.http(401), .misconfigured), (Golden.html(403), .unusable), (.http(500), .unusable),
            (Golden.text(Golden.tokens), .unusable),
        ]
    )
    func selfCheck(reaction: RawServer.Reaction, trouble: Trouble?) async throws {
        try await RawServer.with(answering: reaction) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, .standard)) { provider in
                #expect(await provider.diagnose() == trouble)
            }
        }
    }

    @Test("a token that is stored under another client id is asked about and revoked with its own")
    func wrongClientID() async throws {
        let isLive = Mutex(true)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            // app2:secret2
            let isOwn = request.contains("Authorization: Basic YXBwMjpzZWNyZXQy\r\n")
            if request.hasPrefix("POST /revoke") {
                if isOwn { isLive.withLock { $0 = false } }
                return .http(200)
            }
            let isActive = isOwn && isLive.withLock { $0 }
            return Golden.text(#"{"active":\#(isActive)}"#)
        }
        try await RawServer.with(react: react) { server in
            let one = OAuth2Harness.at(server, .standard, check: .introspection)
            var settings = OAuth2ProviderSettings(
                name: ProviderName("sso"),
                profile: one.profile,
                clients: one.clients + [
                    OAuth2Client(id: "app2", authentication: .basic(Secret("secret2")))
                ]
            )
            settings.http = one.http
            settings.tokenURL = one.tokenURL
            settings.revocationURL = one.revocationURL
            settings.introspectionURL = one.introspectionURL
            settings.check = one.check
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .live)
                #expect(await provider.revoke(token) == .success)
                #expect(isLive.withLock { !$0 })
                #expect(await provider.check(token) == .dead)
            }
        }
    }

    @Test("a server that rotates must not be asked by refresh: the new token is revoked at once")
    func rotation() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.hasPrefix("POST /token")
                ? Golden.text(#"{"access_token":"a","token_type":"Bearer","refresh_token":"new"}"#)
                : .http(200)
        }
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .refresh)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .trouble(.misconfigured))
            }
            #expect(
                server.requests.last?.hasSuffix("token=new&token_type_hint=refresh_token") == true
            )
        }
    }

    /// An ES256 token of the issuer, signed with the key of the fixtures.
    static func idToken(_ algorithm: String, nonce: String) throws -> String {
        let key = try SigningKey(
            pem: Secret(Fixtures.serverKey),
            credential: "test",
            algorithm: .es256
        )
        let claims = IDTokenMint.claims([
            "iss": #""https://sso.example.com""#, "aud": #""app""#, "nonce": #""\#(nonce)""#,
        ])
        var text: [UInt8] = []
        Base64URL.append(Array(#"{"alg":"\#(algorithm)","kid":"ec-1"}"#.utf8), to: &text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(Array(claims.utf8), to: &text)
        let signature = try key.sign(text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test(
        "an id token is accepted by ES256, and only as its key and the nonce's rule say",
        arguments: [
            ("ES256", "plain", IDTokenMint.nonce, nil),
            ("ES256", "sha256", IDTokenMint.hashedNonce, nil),
            ("ES256", "plain", IDTokenMint.hashedNonce, .nonceMismatch),
            ("ES256", "sha256", IDTokenMint.nonce, .nonceMismatch),
            ("RS256", "plain", IDTokenMint.nonce, .badSignature),
            ("none", "plain", IDTokenMint.nonce, .badSignature),
        ] as [(String, String, String, SignInError.Kind?)]
    )
    func es256(algorithm: String, rule: String, nonce: String, kind: SignInError.Kind?) async throws
    {
        let jwks =
            #"{"keys":[{"kty":"EC","crv":"P-256","kid":"ec-1","#
            + #""x":"MfskwmCHSPjgxrqjkwUvRq9o_faENDy_dPNekBR36Gg","#
            + #""y":"4XsPSGcTn0XQ7i6dUUVNO0XUG5VAe-_IkhyzTCfE7oI"}]}"#
        try await RawServer.with(answering: Golden.text(jwks)) { server in
            var settings = OAuth2Harness.settings()
            settings.issuer = "https://sso.example.com"
            settings.keysURL = "http://127.0.0.1:\(server.port)/jwks"
            settings.nonce = rule
            let signIn = SignIn(
                clientID: "app",
                idToken: Secret(try Self.idToken(algorithm, nonce: nonce)),
                rawNonce: Secret(IDTokenMint.nonce)
            )
            let found: SignInError.Kind? = try await OAuth2Harness.with(settings) { provider in
                do throws(SignInError) {
                    _ = try await provider.verify(signIn)
                    return nil
                } catch {
                    return error.kind
                }
            }
            #expect(found == kind)
        }
    }

    @Test("a redirect takes no bearer token along")
    func redirect() async throws {
        try await RawServer.with(answering: .http(200)) { stranger in
            let target = "Location: http://127.0.0.1:\(stranger.port)/api"
            for status in [301, 302, 307, 308] {
                try await RawServer.with(answering: .http(status, [target])) { server in
                    let profile = try #require(OAuth2Profile.presets["slack"])
                    try await OAuth2Harness.with(OAuth2Harness.at(server, profile)) { provider in
                        let token = OAuth2Harness.credential(.accessToken)
                        #expect(await provider.revoke(token) == .trouble(.unusable))
                    }
                }
            }
            #expect(stranger.connectionCount == 0)
        }
    }

    @Test("Google: a dead token proves nothing alone, and the traits say so")
    func traits() async throws {
        try await OAuth2Harness.with(OAuth2Harness.settings(.google)) { provider in
            #expect(provider.traits.revokesWholeGrant)
            #expect(provider.traits.canCheckRefreshToken)
            #expect(!provider.traits.canCheckAccessToken)
            #expect(!provider.traits.invalidTokenProvesGone)
        }
        let spotify = try #require(OAuth2Profile.presets["spotify"])
        try await OAuth2Harness.with(OAuth2Harness.settings(spotify)) { provider in
            #expect(provider.traits.hasNoRevocationAPI)
            #expect(await provider.diagnose() == nil)
        }
    }

    @Test("every preset goes out over https, and can be set up with an issuer")
    func presets() async throws {
        for (name, profile) in OAuth2Profile.presets {
            var settings = OAuth2Harness.settings(profile)
            settings.http.allowsPlainLoopback = false
            settings.issuer = profile.issuer ?? "https://sso.example.com/"
            #expect(settings.urls.values.allSatisfy { $0.hasPrefix("https://") }, "\(name)")
            try await OAuth2Harness.with(settings) { provider in
                #expect(!provider.traits.userActionURL.isEmpty, "\(name)")
            }
        }
    }
}
