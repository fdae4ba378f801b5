import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Providers

@Suite("The OAuth 2 family asks by introspection")
struct OAuth2IntrospectionTests {
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
            (RawServer.Reaction.http(401), EffectFailure.misconfigured),
            (Golden.error("invalid_client", status: 401), .misconfigured),
            (Golden.text(#"{"active":"false"}"#), .unusable), (Golden.html(200), .unusable),
            (.json(403, #"{"active":false}"#), .unusable),
        ]
    )
    func strangeIntrospection(reaction: RawServer.Reaction, failure: EffectFailure) async throws {
        try await RawServer.with(answering: reaction) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .failure(failure))
            }
        }
    }

    @Test(
        "invalid_token and an undocumented success are settled by introspection",
        arguments: [
            (RawServer.Reaction.json(400, #"{"error":"invalid_token"}"#), true, "rejected"),
            (.json(400, #"{"error":"invalid_token"}"#), false, "already invalid"),
            (.json(200, #"{"error":"invalid_token"}"#), true, "rejected"),
            (.http(202), true, "rejected"), (.http(202), false, "success"),
            (RevokeGolden.noBody204, true, "rejected"),
            (RevokeGolden.noBody204, false, "success"),
            (.json(201, #"{"status":"queued"}"#), false, "success"),
            (Golden.html(202), false, "refuses_all"), (.http(200), true, "success"),
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
                    case .failure(let failure): failure.code
                    case .grantGone, .unfit, .userOnly: "another answer"
                    }
                #expect(said == outcome)
            }
        }
    }

    @Test(
        "an undocumented success counts as one where introspection cannot tell",
        arguments: [RawServer.Reaction.http(202), RevokeGolden.noBody204]
    )
    func unsettled(reaction: RawServer.Reaction) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            // What every introspection says after a restart, when no live token was seen yet.
            request.hasPrefix("POST /revoke") ? reaction : Golden.text(#"{"active":false}"#)
        }
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .unknown)
                #expect(await provider.revoke(token) == .success)
            }
        }
    }

    @Test("where each client is shown all tokens, the one that the provider names revokes")
    func namedOwner() async throws {
        let isLive = Mutex(true)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.hasPrefix("POST /revoke") else {
                return Golden.text(#"{"active":\#(isLive.withLock { $0 }),"client_id":"app2"}"#)
            }
            // app2:secret2
            if request.contains("Authorization: Basic YXBwMjpzZWNyZXQy\r\n") {
                isLive.withLock { $0 = false }
            }
            return .http(200)
        }
        try await RawServer.with(react: react) { server in
            let one = OAuth2Harness.at(server, .standard, check: .introspection)
            let settings = SeveralClientsTests.settings(like: one, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .live)
                #expect(await provider.revoke(token) == .success)
                #expect(isLive.withLock { !$0 })
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
            let settings = SeveralClientsTests.settings(like: one, check: .introspection)
            try await OAuth2Harness.with(settings) { provider in
                let token = OAuth2Harness.credential(.refreshToken)
                #expect(await provider.check(token) == .live)
                #expect(await provider.revoke(token) == .success)
                #expect(isLive.withLock { !$0 })
                #expect(await provider.check(token) == .dead)
            }
        }
    }
}
