import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("GitHub")
struct GitHubTests {
    static let client = "Iv1.8a61f9b3a7aba766"

    static func with<Result>(
        react: @escaping @Sendable (String) -> RawServer.Reaction,
        body: (GitHubProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        try await RawServer.with(react: react) { server in
            let url = FamilyHarness.url(server)
            let provider = try GitHubProvider(
                GitHubKind(clientSecretCredential: "", baseURL: url, loginURL: url),
                http: FamilyHarness.http("github"),
                clientID: client,
                clientSecret: Secret("client-secret"),
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

    static func credential(
        _ kind: CredentialKind,
        _ secret: String = "canary-token",
        keeper: TokenKeeper? = nil
    ) -> OpenCredential {
        FamilyHarness.credential(kind, secret, client: client, keeper: keeper)
    }

    static func error(_ code: String) -> RawServer.Reaction {
        .json(200, #"{"error":"\#(code)","error_description":"canary"}"#)
    }

    static let noContent = RawServer.Reaction.bytes(Array("HTTP/1.1 204 X\r\n\r\n".utf8))
    static let notFound = RawServer.Reaction.json(404, #"{"message":"Not Found"}"#)
    static let tokens = RawServer.Reaction.json(
        200,
        #"{"access_token":"ghu_new","expires_in":28800,"refresh_token":"ghr_new","#
            + #""refresh_token_expires_in":15811200,"scope":"","token_type":"bearer"}"#
    )

    /// Answers by what is asked: the grant, a refresh, or the self-check's code.
    static func server(
        grant: RawServer.Reaction = noContent,
        refresh: RawServer.Reaction = tokens,
        code: RawServer.Reaction = error("bad_verification_code")
    ) -> @Sendable (String) -> RawServer.Reaction {
        { request in
            if request.contains("/applications/") { return grant }
            return request.contains("grant_type=refresh_token") ? refresh : code
        }
    }

    /// An answer to the deletion of a grant with an access token, and to the self-check.
    struct Deletion: Sendable, CustomTestStringConvertible {
        let name: String
        let grant: RawServer.Reaction
        var code = GitHubTests.error("bad_verification_code")
        let answer: RevokeAnswer

        var testDescription: String { name }
    }

    static let deletions = [
        Deletion(name: "204", grant: noContent, answer: .success),
        Deletion(name: "404, good credentials", grant: notFound, answer: .alreadyInvalid),
        Deletion(
            name: "404 of another server",
            grant: .http(404),
            answer: .failure(.refusesAll(Refusal(status: 404)))
        ),
        Deletion(
            name: "404, wrong credentials",
            grant: notFound,
            code: error("incorrect_client_credentials"),
            answer: .failure(.misconfigured)
        ),
        Deletion(
            name: "404, unknown credentials",
            grant: notFound,
            code: .http(500),
            answer: .failure(.unusable)
        ),
        Deletion(
            name: "422",
            grant: .json(422, #"{"message":"Validation Failed"}"#),
            answer: .failure(.refusesAll(Refusal(status: 422)))
        ),
        Deletion(
            name: "401",
            grant: .json(401, #"{"message":"Bad credentials"}"#),
            answer: .failure(.misconfigured)
        ),
        Deletion(name: "401 of a proxy", grant: .http(401), answer: .failure(.unusable)),
        Deletion(
            name: "403",
            grant: .json(403, #"{"message":"You have exceeded a secondary rate limit"}"#),
            answer: .failure(.throttled(retryAfter: nil))
        ),
        Deletion(
            name: "other 403",
            grant: .json(403, #"{"message":"Forbidden"}"#),
            answer: .failure(.refusesAll(Refusal(status: 403)))
        ),
        Deletion(
            name: "429",
            grant: .http(429, ["Retry-After: 60"]),
            answer: .failure(.throttled(retryAfter: .seconds(60)))
        ),
        Deletion(name: "200", grant: .json(200, "{}"), answer: .failure(.unusable)),
    ]

    @Test("only documented answers to a deletion decide anything", arguments: deletions)
    func deletion(_ deletion: Deletion) async throws {
        let react = Self.server(grant: deletion.grant, code: deletion.code)
        try await Self.with(react: react) { provider, _ in
            #expect(await provider.revoke(Self.credential(.accessToken)) == deletion.answer)
        }
    }

    @Test("a grant is deleted with Basic credentials and the token in a JSON body")
    func deletionRequest() async throws {
        try await Self.with(react: Self.server()) { provider, server in
            let token = Self.credential(.accessToken, #"gho_"quoted\"#)
            #expect(await provider.revoke(token) == .success)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("DELETE /applications/Iv1.8a61f9b3a7aba766/grant "))
            // printf 'Iv1.8a61f9b3a7aba766:client-secret' | base64 -w0
            #expect(
                request.contains(
                    "Authorization: Basic SXYxLjhhNjFmOWIzYTdhYmE3NjY6Y2xpZW50LXNlY3JldA==\r\n"
                )
            )
            #expect(request.contains("Accept: application/vnd.github+json\r\n"))
            #expect(request.hasSuffix(#"{"access_token":"gho_\"quoted\\"}"#))
        }
    }

    @Test("a refresh token is rotated, kept, and only then used")
    func rotation() async throws {
        let kept = KeptTokens()
        try await Self.with(react: Self.server()) { provider, server in
            let token = Self.credential(.refreshToken, "ghr_old", keeper: kept.keeper)
            #expect(await provider.revoke(token) == .success)
            #expect(kept.all == ["ghr_new"])
            #expect(server.requests.count == 2)
            #expect(server.requests[1].contains(#"{"access_token":"ghu_new"}"#))
        }
    }

    @Test("a rotated token that cannot be kept ends with the grant, or is lost")
    func lostRotation() async throws {
        let token = Self.credential(.refreshToken, keeper: KeptTokens(isWorking: false).keeper)
        try await Self.with(react: Self.server()) { provider, server in
            #expect(await provider.revoke(token) == .success)
            #expect(await provider.check(token) == .failure(.lost))
            #expect(server.requests.count == 3)
            // Without a keeper, the refresh token is not even spent.
            #expect(
                await provider.revoke(Self.credential(.refreshToken)) == .failure(.unusable)
            )
            #expect(server.requests.count == 3)
        }
        try await Self.with(react: Self.server(grant: Self.notFound)) { provider, _ in
            #expect(await provider.revoke(token) == .failure(.lost))
        }
    }

    @Test("an error with status 200 is an error")
    func errorsWithStatus200() async throws {
        let kept = KeptTokens()
        let token = Self.credential(.refreshToken, keeper: kept.keeper)
        let dead = Self.server(refresh: Self.error("bad_refresh_token"))
        try await Self.with(react: dead) { provider, _ in
            #expect(await provider.revoke(token) == .alreadyInvalid)
            #expect(await provider.check(token) == .dead)
        }
        let wrong = Self.server(refresh: Self.error("incorrect_client_credentials"))
        try await Self.with(react: wrong) { provider, _ in
            #expect(await provider.revoke(token) == .failure(.misconfigured))
        }
        let odd = Self.server(refresh: Self.error("unverified_user_email"))
        try await Self.with(react: odd) { provider, _ in
            #expect(await provider.check(token) == .failure(.unusable))
        }
        #expect(kept.all.isEmpty)
    }

    @Test("a token of a moment ago that is not found is not taken for gone")
    func freshNotFound() async throws {
        try await Self.with(react: Self.server(grant: Self.notFound)) { provider, _ in
            let token = Self.credential(.refreshToken, keeper: KeptTokens().keeper)
            #expect(await provider.revoke(token) == .failure(.rejected))
        }
    }

    @Test(
        "a code is exchanged, and errors with status 200 are told apart",
        arguments: [
            ("", "exchanged refresh=true access=true subject=583231"),
            ("bad_verification_code", "refused"),
            ("redirect_uri_mismatch", "refused"),
            ("incorrect_client_credentials", "failure misconfigured"),
            ("unverified_user_email", "failure unusable"),
        ]
    )
    func exchange(_ code: String, _ summary: String) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("GET /user ") { return .json(200, #"{"id":583231}"#) }
            return code.isEmpty ? Self.tokens : Self.error(code)
        }
        try await Self.with(react: react) { provider, _ in
            let answer = await provider.exchange(Self.credential(.authorizationCode))
            #expect(answer.summary == summary)
        }
    }

    @Test("an access token is live, or dead once the credentials are known to be right")
    func check() async throws {
        let live = Self.server(grant: .json(200, #"{"id":1,"token":"x"}"#))
        try await Self.with(react: live) { provider, _ in
            #expect(await provider.check(Self.credential(.accessToken)) == .live)
        }
        try await Self.with(react: Self.server(grant: Self.notFound)) { provider, _ in
            #expect(await provider.check(Self.credential(.accessToken)) == .dead)
        }
    }

    @Test("the self-check tells wrong credentials from good ones")
    func diagnose() async throws {
        try await Self.with(react: Self.server()) { provider, _ in
            #expect(await provider.diagnose() == nil)
        }
        let wrong = Self.server(code: Self.error("incorrect_client_credentials"))
        try await Self.with(react: wrong) { provider, _ in
            #expect(await provider.diagnose() == .misconfigured)
        }
    }
}
