import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

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

    @Test(
        "the self-check takes any refusal of a code that cannot exist, and nothing else",
        arguments: [
            (RawServer.Reaction.http(403), .refusesAll(Refusal(status: 403))),
            (.json(403, #"{"message":"Forbidden"}"#), .refusesAll(Refusal(status: 403))),
            (.json(403, #"{"error":"forbidden"}"#), nil), (.http(400), nil),
            (Golden.error("invalid_grant"), nil), (Golden.error("invalid_request"), nil),
            (Golden.error("invalid_client"), EffectFailure.misconfigured),
            (.http(401), .misconfigured), (.http(500), .unusable),
            (Golden.html(403), .refusesAll(Refusal(status: 403))),
            (.http(404), .refusesAll(Refusal(status: 404))),
            (Golden.text(Golden.tokens), .unusable),
        ]
    )
    func selfCheck(reaction: RawServer.Reaction, failure: EffectFailure?) async throws {
        try await RawServer.with(answering: reaction) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, .standard)) { provider in
                #expect(await provider.diagnose() == failure)
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
        for (isConfigured, failure) in [(false, EffectFailure.misconfigured), (true, .lost)] {
            try await RawServer.with(react: react) { server in
                var settings = OAuth2Harness.at(server, .standard, check: .refresh)
                settings.profile.rotatesRefreshTokens = isConfigured
                try await OAuth2Harness.with(settings) { provider in
                    let token = OAuth2Harness.credential(.refreshToken)
                    #expect(await provider.check(token) == .failure(failure))
                }
                let last = server.requests.last
                #expect(last?.hasSuffix("token=new&token_type_hint=refresh_token") == true)
            }
        }
    }

    @Test("a redirect takes no bearer token along")
    func redirect() async throws {
        try await RawServer.with(answering: .http(200)) { stranger in
            let location = "Location: http://127.0.0.1:\(stranger.port)/api"
            for status in [301, 302, 307, 308] {
                try await RawServer.with(answering: .http(status, [location])) { server in
                    let profile = try #require(OAuth2Profile.presets["slack"])
                    try await OAuth2Harness.with(OAuth2Harness.at(server, profile)) { provider in
                        let token = OAuth2Harness.credential(.accessToken)
                        #expect(await provider.revoke(token) == .failure(.unusable))
                    }
                }
            }
            #expect(stranger.connectionCount == 0)
        }
    }

    @Test(
        "Google: the end of a Workspace session is not that of the grant, which is revoked",
        arguments: ["invalid_rapt", "rapt_required", "other"]
    )
    func sessionControl(subtype: String) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.hasPrefix("POST /token")
                ? .json(400, #"{"error":"invalid_grant","error_subtype":"\#(subtype)"}"#)
                : .json(200, "{}")
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, .google)) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == (subtype == "other" ? .dead : .unknown))
                #expect(await provider.revoke(token) == .success)
            }
        }
    }

    @Test("Google: one revoke ends the grant, and the traits say so")
    func traits() async throws {
        try await OAuth2Harness.with(OAuth2Harness.settings(.google)) { provider in
            #expect(provider.traits.revokesWholeGrant)
            #expect(provider.traits.canCheckRefreshToken)
            #expect(!provider.traits.canCheckAccessToken)
        }
        let spotify = try #require(OAuth2Profile.presets["spotify"])
        try await OAuth2Harness.with(OAuth2Harness.settings(spotify)) { provider in
            #expect(provider.traits.hasNoRevocationAPI)
            #expect(await provider.diagnose() == nil)
        }
    }

    @Test("a user is always told where to go: at least to the host that revokes")
    func userAction() async throws {
        var settings = OAuth2Harness.settings()
        settings.profile.issuer = nil
        settings.profile.userActionURL = nil
        settings.profile.revocationURL = "https://sso.example.com:8443/oauth/revoke"
        try await OAuth2Harness.with(settings) { provider in
            #expect(provider.traits.userActionURL == "https://sso.example.com:8443/")
        }
    }

    @Test("every preset goes out over https, and can be set up with an issuer")
    func presets() async throws {
        for (name, profile) in OAuth2Profile.presets {
            var settings = OAuth2Harness.settings(profile)
            settings.http.allowsPlainLoopback = false
            settings.profile.issuer = profile.issuer ?? "https://sso.example.com/"
            #expect(settings.profile.urls.values.allSatisfy { $0.hasPrefix("https://") }, "\(name)")
            try await OAuth2Harness.with(settings) { provider in
                #expect(!provider.traits.userActionURL.isEmpty, "\(name)")
            }
        }
    }
}
