import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Providers

@Suite("Refresh tokens that rotate")
struct RotationTests {
    @Test(
        "a preset says whether a refresh uses the token up, and the operator's word goes before",
        arguments: OAuth2Profile.presets.keys.sorted()
    )
    func traits(preset: String) async throws {
        let profile = try #require(OAuth2Profile.presets[preset])
        let documented = ["gitlab", "kakao", "yahoo", "zoom"].contains(preset)
        for said in [nil, true, false] {
            var settings = OAuth2Harness.settings(profile)
            settings.profile.issuer = profile.issuer ?? "https://sso.example.com"
            if let said { settings.profile.rotatesRefreshTokens = said }
            try await OAuth2Harness.with(settings) { provider in
                #expect(provider.traits.rotatesRefreshTokens == (said ?? documented))
            }
        }
    }

    @Test("Kakao's last month: the new token is durable before the old one's access is used")
    func revokeAfterRotation() async throws {
        let kept = Mutex<[String]>([])
        let profile = try #require(OAuth2Profile.presets["kakao"])
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.contains("/token") else {
                // Used only once the new token is kept.
                let isKept = kept.withLock { $0 } == ["r2"]
                return isKept ? .json(200, #"{"id":1}"#) : .json(500, "{}")
            }
            return .json(
                200,
                #"{"access_token":"a2","token_type":"bearer","expires_in":60,"refresh_token":"r2"}"#
            )
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, profile)) { provider in
                var unkept = OAuth2Harness.credential(.refreshToken, "r1")
                unkept.keeper = TokenKeeper { _ in false }
                #expect(await provider.revoke(unkept) == .failure(.lost))
                var credential = OAuth2Harness.credential(.refreshToken, "r1")
                credential.keeper = TokenKeeper { token in
                    kept.withLock { $0.append(token.exposeText()) }
                    return true
                }
                #expect(await provider.revoke(credential) == .success)
                // What cannot be kept is revoked at once.
                #expect(await provider.revoke(unkept) == .success)
            }
        }
    }
}
