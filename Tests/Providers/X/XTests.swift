import Engine
import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import HTTP
@testable import Providers

@Suite("X")
struct XTests {
    static let client = "xvz1evFS4wEEPTGEFPHBog"

    static func with<Result>(
        _ authorization: XClient.Authorization = .oauth2(clientSecret: Secret("s:cret")),
        react: @escaping @Sendable (String) -> RawServer.Reaction,
        body: (XProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        try await RawServer.with(react: react) { server in
            let isOAuth1 = if case .oauth1 = authorization { true } else { false }
            let provider = try XProvider(
                XKind(
                    authorization: isOAuth1 ? .oauth1 : .oauth2,
                    clientSecretCredential: nil,
                    baseURL: FamilyHarness.url(server)
                ),
                http: FamilyHarness.http("x"),
                client: XClient(
                    id: client,
                    authorization: authorization,
                    makeNonce: { "nonce" }
                ),
                in: FamilyHarness.environment()
            )
            do {
                let result = try await body(provider, server)
                await provider.shutdown()
                return result
            } catch {
                await provider.shutdown()
                throw error
            }
        }
    }

    static func with<Result>(
        _ authorization: XClient.Authorization = .oauth2(clientSecret: Secret("s:cret")),
        answering reaction: RawServer.Reaction,
        body: (XProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in reaction }
        return try await with(authorization, react: react, body: body)
    }

    static func credential(
        _ kind: CredentialKind,
        _ secret: String = "canary-token",
        keeper: TokenKeeper? = nil
    ) -> OpenCredential {
        FamilyHarness.credential(kind, secret, client: client, keeper: keeper)
    }

    static let oauth1 = XClient.Authorization.oauth1(consumerSecret: Secret("consumer"))

    static let revocations: [(RawServer.Reaction, RevokeAnswer)] = [
        (.json(200, #"{"revoked":true}"#), .success),
        (.json(200, #"{"revoked":false}"#), .failure(.unusable)),
        (.json(200, "{}"), .failure(.unusable)),
        (.http(200), .failure(.unusable)),
        (
            .json(400, #"{"error":"invalid_request"}"#),
            .failure(.refusesAll(Refusal(status: 400, error: "invalid_request")))
        ),
        (
            .json(400, #"{"error":"invalid_token"}"#),
            .failure(.refusesAll(Refusal(status: 400, error: "invalid_token")))
        ), (.json(401, #"{"error":"invalid_client"}"#), .failure(.misconfigured)),
        (.json(400, #"{"error":"unauthorized_client"}"#), .failure(.misconfigured)),
        (.http(429), .failure(.throttled(retryAfter: nil))),
    ]

    @Test("OAuth 2: only the documented success is one", arguments: revocations)
    func revocation(_ reaction: RawServer.Reaction, _ answer: RevokeAnswer) async throws {
        try await Self.with(answering: reaction) { provider, _ in
            #expect(await provider.revoke(Self.credential(.refreshToken)) == answer)
        }
    }

    @Test("OAuth 2: a confidential client shows its secret by Basic, a public one has none")
    func clients() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            .json(200, #"{"revoked":true}"#)
        }
        try await Self.with(react: react) { provider, server in
            #expect(await provider.revoke(Self.credential(.accessToken)) == .success)
            let request = try #require(server.requests.first)
            // printf 'xvz1evFS4wEEPTGEFPHBog:s%%3Acret' | base64 -w0 (RFC 6749 §2.3.1)
            #expect(
                request.contains(
                    "Authorization: Basic eHZ6MWV2RlM0d0VFUFRHRUZQSEJvZzpzJTNBY3JldA==\r\n"
                )
            )
            #expect(FamilyHarness.field("token_type_hint", of: request) == "access_token")
        }
        try await Self.with(.oauth2(clientSecret: nil), react: react) { provider, server in
            #expect(await provider.revoke(Self.credential(.refreshToken)) == .success)
            let request = try #require(server.requests.first)
            #expect(!request.contains("Authorization:"))
            #expect(FamilyHarness.field("client_id", of: request) == Self.client)
            #expect(FamilyHarness.field("token_type_hint", of: request) == "refresh_token")
        }
    }

    @Test("OAuth 2: a refusal counts once after each token that X honored, and refreshes nothing")
    func refusals() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            FamilyHarness.field("token", of: request) == "good"
                ? .json(200, #"{"revoked":true}"#) : Golden.error("invalid_request")
        }
        try await Self.with(react: react) { provider, server in
            let kept = KeptTokens()
            func revoke(_ token: String) async -> RevokeAnswer {
                await provider.revoke(Self.credential(.refreshToken, token, keeper: kept.keeper))
            }
            let refusal = Refusal(status: 400, error: "invalid_request")
            #expect(await revoke("bad") == .failure(.refusesAll(refusal)))
            #expect(await revoke("good") == .success)
            #expect(await revoke("bad") == .failure(.refused(refusal)))
            #expect(!server.requests.contains { $0.contains("/oauth2/token") })
        }
    }

    private static func invalidRequest(_ description: String) -> RawServer.Reaction {
        .json(400, #"{"error":"invalid_request","error_description":"\#(description)"}"#)
    }

    static let refreshes: [(RawServer.Reaction, CheckAnswer)] = [
        (invalidRequest("Value passed for the token was invalid."), .dead),
        (.json(400, #"{"error":"invalid_grant"}"#), .dead),
        (invalidRequest("Missing required parameter [client_id]."), .failure(.rejected)),
        (.json(400, #"{"error":"invalid_request"}"#), .failure(.rejected)),
        (
            .json(401, #"{"error":"unauthorized_client"}"#),
            .failure(.misconfigured)
        ), (.http(502), .failure(.unusable)),
    ]

    @Test("OAuth 2: X says itself that a refresh token is spent", arguments: refreshes)
    func refresh(_ reaction: RawServer.Reaction, _ answer: CheckAnswer) async throws {
        try await Self.with(answering: reaction) { provider, _ in
            let token = Self.credential(.refreshToken, keeper: KeptTokens().keeper)
            #expect(await provider.check(token) == answer)
            #expect(await provider.renew(token) == answer)
        }
    }

    @Test("OAuth 2: the stand-in spends a refresh token, and says so as X does")
    func standIn() async throws {
        let sandbox = try await SandboxServer.start(configuration: SandboxConfiguration())
        do {
            let issued = try #require(try sandbox.issueTokens(at: .x)[0].refreshToken)
            let place = ProviderPlace(sandbox, timeout: .seconds(120))
            let provider = try SweptProvider.xOAuth2.make(place, now: MachineClock.now)
            let kept = KeptTokens()
            let first = FamilyHarness.credential(
                .refreshToken,
                issued,
                client: SweptProvider.xOAuth2.clientID,
                keeper: kept.keeper
            )
            let answers = [await provider.check(first), await provider.check(first)]
            let second = FamilyHarness.credential(
                .refreshToken,
                kept.all.first ?? "",
                client: SweptProvider.xOAuth2.clientID,
                keeper: kept.keeper
            )
            let revoked = await provider.revoke(second)
            let after = await provider.check(second)
            await provider.shutdown()
            #expect(answers == [.live, .dead])
            #expect(revoked == .success)
            #expect(after == .dead)
            #expect(kept.all.count == 1)
        } catch {
            try await sandbox.shutdown()
            throw error
        }
        try await sandbox.shutdown()
    }

    @Test("OAuth 2: a rotated refresh token is kept before it counts, or revoked at once")
    func rotation() async throws {
        let tokens = #"{"token_type":"bearer","access_token":"a","refresh_token":"new"}"#
        try await Self.with(answering: .json(200, tokens)) { provider, server in
            let kept = KeptTokens()
            #expect(
                await provider.check(Self.credential(.refreshToken, keeper: kept.keeper)) == .live
            )
            #expect(kept.all == ["new"])
            let unkept = KeptTokens(isWorking: false)
            #expect(
                await provider.check(Self.credential(.refreshToken, keeper: unkept.keeper))
                    == .failure(.lost)
            )
            let last = try #require(server.requests.last)
            #expect(last.hasPrefix("POST /2/oauth2/revoke "))
            #expect(FamilyHarness.field("token", of: last) == "new")
            // A renewal revokes nothing.
            #expect(
                await provider.renew(Self.credential(.refreshToken, keeper: unkept.keeper))
                    == .failure(.lost)
            )
            #expect(
                await provider.check(Self.credential(.refreshToken)) == .failure(.unusable)
            )
            #expect(server.requests.count == 4)
        }
    }

    @Test("OAuth 2: a code is exchanged or refused")
    func exchange() async throws {
        let tokens = #"{"token_type":"bearer","expires_in":7200,"access_token":"a"}"#
        try await Self.with(answering: .json(200, tokens)) { provider, _ in
            let answer = await provider.exchange(Self.credential(.authorizationCode))
            #expect(answer.summary == "exchanged refresh=false access=true subject=-")
        }
        for refusal in [
            RawServer.Reaction.json(400, #"{"error":"invalid_grant"}"#),
            Self.invalidRequest("Value passed for the authorization code was invalid."),
        ] {
            try await Self.with(answering: refusal) { provider, _ in
                let answer = await provider.exchange(Self.credential(.authorizationCode))
                #expect(answer.summary == "refused")
            }
        }
    }

    static let invalidations: [(RawServer.Reaction, RevokeAnswer)] = [
        (.json(200, #"{"access_token":"1-a"}"#), .success),
        (
            .json(401, #"{"errors":[{"code":89,"message":"Invalid or expired token."}]}"#),
            .alreadyInvalid
        ),
        (
            .json(401, #"{"errors":[{"code":32,"message":"x"}]}"#),
            .failure(.refusesAll(Refusal(status: 401, error: "32")))
        ),
        (
            .json(401, #"{"errors":[{"code":89},{"code":32}]}"#),
            .failure(.refusesAll(Refusal(status: 401, error: "89")))
        ), (.json(400, #"{"errors":[{"code":215}]}"#), .failure(.misconfigured)),
        (.json(403, #"{"errors":[{"code":416}]}"#), .failure(.misconfigured)),
        (
            .json(403, #"{"errors":[{"code":89}]}"#),
            .failure(.refusesAll(Refusal(status: 403, error: "89")))
        ), (.json(403, #"{"message":"Forbidden"}"#), .failure(.refusesAll(Refusal(status: 403)))),
        (.json(200, "{}"), .failure(.unusable)),
    ]

    @Test("OAuth 1.0a: only documented answers decide anything", arguments: invalidations)
    func invalidation(_ reaction: RawServer.Reaction, _ answer: RevokeAnswer) async throws {
        try await Self.with(Self.oauth1, answering: reaction) { provider, server in
            #expect(await provider.revoke(Self.credential(.accessToken, "1-a:secret")) == answer)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /1.1/oauth/invalidate_token.json "))
            #expect(request.contains(#"oauth_token="1-a""#))
            #expect(!request.contains("secret"))
        }
    }

    @Test(
        "OAuth 1.0a: a refusal is the token's where a made-up token gets the documented one",
        arguments: [
            (
                .json(403, #"{"errors":[{"code":64,"message":"x"}]}"#),
                Refusal(status: 403, error: "64")
            ), (.json(403, #"{"message":"Forbidden"}"#), Refusal(status: 403)),
        ] as [(RawServer.Reaction, Refusal)]
    )
    func comparison(_ odd: RawServer.Reaction, _ refusal: Refusal) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains(#"oauth_token="\#(RefusalJudge.madeUp.exposeText())""#)
                ? .json(401, #"{"errors":[{"code":89,"message":"Invalid or expired token."}]}"#)
                : odd
        }
        try await Self.with(Self.oauth1, react: react) { provider, server in
            let answer = await provider.revoke(Self.credential(.accessToken, "1-a:secret"))
            #expect(answer == .failure(.refused(refusal)))
            #expect(server.requests.count == 2)
        }
    }

    @Test("OAuth 1.0a: a wrong signature is the token's own only once X honored another one")
    func signature() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.contains(#"oauth_token="1-good""#) {
                return .json(200, #"{"access_token":"1-good"}"#)
            }
            // As a consumer secret that is wrong for everybody has it, too.
            let code = request.contains(#"oauth_token="1-a""#) ? 32 : 89
            return .json(401, #"{"errors":[{"code":\#(code),"message":"x"}]}"#)
        }
        try await Self.with(Self.oauth1, react: react) { provider, _ in
            let refusal = Refusal(status: 401, error: "32")
            let wrong = Self.credential(.accessToken, "1-a:secret")
            for _ in 1...2 {
                #expect(await provider.revoke(wrong) == .failure(.refusesAll(refusal)))
            }
            let good = Self.credential(.accessToken, "1-good:secret")
            #expect(await provider.revoke(good) == .success)
            #expect(await provider.revoke(wrong) == .failure(.refused(refusal)))
        }
    }

    @Test("OAuth 1.0a: a token without its secret is not sent, and neither are other kinds")
    func unfit() async throws {
        try await Self.with(Self.oauth1, answering: .http(200)) { provider, server in
            for secret in ["1-a", "1-a:", ":s", "1-a:s:x"] {
                #expect(await provider.revoke(Self.credential(.accessToken, secret)) == .unfit)
            }
            #expect(await provider.revoke(Self.credential(.refreshToken)) == .unfit)
            let exchange = await provider.exchange(Self.credential(.authorizationCode))
            #expect(exchange.summary == "failure unusable")
            #expect(server.requests.isEmpty)
        }
    }
}
