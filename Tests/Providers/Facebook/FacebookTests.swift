import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Facebook")
struct FacebookTests {
    static let appID = "1234567890"
    static let user = "10223344556677"

    static func with<Result>(
        react: @escaping @Sendable (String) -> RawServer.Reaction,
        body: (FacebookProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        try await RawServer.with(react: react) { server in
            let url = FamilyHarness.url(server)
            let provider = try FacebookProvider(
                FacebookKind(
                    clientSecretCredential: "",
                    baseURL: url,
                    limitedURL: url,
                    uninstallURL: url
                ),
                http: FamilyHarness.http("facebook"),
                appID: appID,
                appSecret: Secret("app-secret"),
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
        answering reaction: RawServer.Reaction,
        body: (FacebookProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in reaction }
        return try await with(react: react, body: body)
    }

    static func credential(
        _ kind: CredentialKind = .accessToken,
        _ secret: String = "canary-token",
        subject: String? = user
    ) -> OpenCredential {
        FamilyHarness.credential(kind, secret, client: appID, subject: subject)
    }

    /// What a user gets whom Facebook refuses while it honors the app.
    static func refused(_ code: String) -> RevokeAnswer {
        .failure(.refused(Refusal(status: 400, error: code)))
    }

    static func error(_ code: Int, _ subcode: Int? = nil, status: Int = 400) -> RawServer.Reaction {
        let tail = subcode.map { #","error_subcode":\#($0)"# } ?? ""
        return .json(
            status,
            #"{"error":{"message":"canary","type":"OAuthException","code":\#(code)\#(tail)}}"#
        )
    }

    static let goodApp = RawServer.Reaction.json(
        200,
        #"{"data":{"app_id":"\#(appID)","is_valid":true,"type":"APP"}}"#
    )

    /// One answer to the removal and to the look at the permissions after it.
    struct Removal: Sendable, CustomTestStringConvertible {
        let name: String
        let delete: RawServer.Reaction
        var permissions = RawServer.Reaction.http(500)
        var debug = FacebookTests.goodApp
        let answer: RevokeAnswer

        var testDescription: String { name }
    }

    static let empty = RawServer.Reaction.json(200, #"{"data":[]}"#)
    static let granted = RawServer.Reaction.json(
        200,
        #"{"data":[{"permission":"email","status":"granted"}]}"#
    )

    static let removals = [
        Removal(name: "true", delete: .json(200, "true"), answer: .success),
        Removal(name: "success", delete: .json(200, #"{"success":true}"#), answer: .success),
        Removal(
            name: "success as text/javascript",
            delete: .http(
                200,
                ["Content-Type: text/javascript; charset=UTF-8"],
                body: Array(#"{"success":true}"#.utf8)
            ),
            answer: .success
        ),
        Removal(
            name: "no success",
            delete: .json(200, #"{"success":false}"#),
            answer: .failure(.unusable)
        ),
        Removal(name: "false", delete: .json(200, "false"), answer: .failure(.unusable)),
        Removal(name: "empty 200", delete: .http(200), answer: .failure(.unusable)),
        Removal(
            name: "html",
            delete: .http(200, ["Content-Type: text/html"], body: Array("true".utf8)),
            answer: .failure(.unusable)
        ),
        Removal(
            name: "458, no permissions",
            delete: error(190, 458),
            permissions: empty,
            answer: .grantGone
        ),
        Removal(
            name: "458 twice",
            delete: error(190, 458),
            permissions: error(190, 458),
            answer: .grantGone
        ),
        Removal(
            name: "458, but permissions",
            delete: error(190, 458),
            permissions: granted,
            answer: .failure(.rejected)
        ),
        Removal(
            name: "458, and nothing after it",
            delete: error(190, 458),
            answer: .failure(.unusable)
        ),
        Removal(
            name: "100, no permissions",
            delete: error(100),
            permissions: empty,
            answer: .grantGone
        ),
        Removal(
            name: "100, then 458",
            delete: error(100),
            permissions: error(190, 458),
            answer: refused("190/458")
        ),
        Removal(
            name: "100 twice",
            delete: error(100, 33),
            permissions: error(100, 33),
            answer: refused("100/33")
        ),
        Removal(name: "checkpoint", delete: error(190, 459), answer: refused("190/459")),
        Removal(name: "dead token", delete: error(190, 463), answer: refused("190/463")),
        Removal(
            name: "wrong secret",
            delete: error(190),
            debug: error(190),
            answer: .failure(.misconfigured)
        ),
        Removal(
            name: "limit",
            delete: error(4, status: 403),
            answer: .failure(.throttled(retryAfter: nil))
        ),
        Removal(
            name: "blocked",
            delete: error(368),
            answer: .failure(.throttled(retryAfter: nil))
        ),
        Removal(
            name: "transient 500",
            delete: error(2, status: 500),
            answer: .failure(.throttled(retryAfter: nil))
        ),
    ]

    @Test("only documented answers to a removal decide anything", arguments: removals)
    func removal(_ removal: Removal) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("DELETE") { return removal.delete }
            return request.contains("/debug_token") ? removal.debug : removal.permissions
        }
        try await Self.with(react: react) { provider, _ in
            #expect(await provider.revoke(Self.credential()) == removal.answer)
        }
    }

    @Test("a removal goes to the user's own path with the app's token and its proof, once")
    func removalRequest() async throws {
        try await Self.with(answering: .json(200, "true")) { provider, server in
            #expect(await provider.revoke(Self.credential()) == .success)
            let request = try #require(server.requests.first)
            #expect(server.requests.count == 1)
            #expect(request.hasPrefix("DELETE /v25.0/10223344556677/permissions?"))
            #expect(
                FamilyHarness.field("access_token", of: request) == "1234567890%7Capp-secret"
            )
            // printf '1234567890|app-secret' | openssl dgst -sha256 -hmac app-secret
            #expect(
                FamilyHarness.field("appsecret_proof", of: request)
                    == "1372ebbf321837a2ac6a1eedf182923d0898de52dd6bf9a49c8f6934295ed9b3"
            )
            #expect(!request.contains("canary-token"))
        }
    }

    @Test("a user's id alone is enough for a removal")
    func subjectAlone() async throws {
        try await Self.with(answering: .json(200, "true")) { provider, server in
            #expect(provider.traits.extraKinds.contains(.subject))
            #expect(await provider.revoke(Self.credential(.subject, Self.user)) == .success)
            #expect(server.requests.count == 1)
        }
    }

    @Test("a user id that is not a number is never put into a path")
    func strangeSubject() async throws {
        try await Self.with(answering: .json(200, "true")) { provider, server in
            for subject in ["me", "1/../2", "", "12a"] {
                #expect(await provider.revoke(Self.credential(subject: subject)) == .unfit)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("an unknown user is asked for by the token, when that still names one")
    func unknownSubject() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.hasPrefix("DELETE")
                ? .json(200, "true")
                : .json(
                    200,
                    #"{"data":{"app_id":"1234567890","is_valid":false,"user_id":"777"}}"#
                )
        }
        try await Self.with(react: react) { provider, server in
            #expect(await provider.revoke(Self.credential(subject: nil)) == .success)
            #expect(server.requests.last?.hasPrefix("DELETE /v25.0/777/permissions") == true)
        }
        try await Self.with(answering: Self.goodApp) { provider, _ in
            #expect(await provider.revoke(Self.credential(subject: nil)) == .unfit)
        }
    }

    @Test("a token of another app says nothing of the user, and is refused by itself")
    func otherApp() async throws {
        let other = RawServer.Reaction.json(
            200,
            #"{"data":{"app_id":"999","is_valid":false,"user_id":"777"}}"#
        )
        try await Self.with(answering: other) { provider, _ in
            let refusal = EffectFailure.refused(Refusal(status: 200))
            #expect(await provider.check(Self.credential()) == .failure(refusal))
            #expect(
                await provider.revoke(Self.credential(subject: nil)) == .failure(refusal)
            )
        }
    }

    @Test("a code brings a token and its owner")
    func exchange() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("/oauth/access_token")
                ? .json(200, #"{"access_token":"at","token_type":"bearer","expires_in":5183944}"#)
                : .json(
                    200,
                    #"{"data":{"app_id":1234567890,"is_valid":true,"user_id":"777"}}"#
                )
        }
        try await Self.with(react: react) { provider, _ in
            let answer = await provider.exchange(Self.credential(.authorizationCode))
            #expect(answer.summary == "exchanged refresh=false access=true subject=777")
        }
        try await Self.with(answering: Self.error(100, 36_007)) { provider, _ in
            let answer = await provider.exchange(Self.credential(.authorizationCode))
            #expect(answer.summary == "failure rejected")
        }
    }

    @Test("a Limited Login user is uninstalled with the id token, while it lives")
    func uninstall() async throws {
        let fresh = try IDTokenGenerator.token(
            claims: IDTokenGenerator.claims(["aud": #""1234567890""#])
        )
        let old = try IDTokenGenerator.token(
            claims: IDTokenGenerator.claims(["aud": #""1234567890""#, "exp": "1799999999"])
        )
        let foreign = try IDTokenGenerator.token()
        try await Self.with(answering: .json(200, #"{"success":true}"#)) { provider, server in
            #expect(await provider.revoke(Self.credential(.idToken, old)) == .unfit)
            #expect(await provider.revoke(Self.credential(.idToken, foreign)) == .unfit)
            #expect(server.requests.isEmpty)
            #expect(await provider.revoke(Self.credential(.idToken, fresh)) == .success)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /platform/uninstall/ "))
            #expect(FamilyHarness.field("app_id", of: request) == Self.appID)
            #expect(!request.contains("app-secret"))
        }
        let strange: [(RawServer.Reaction, EffectFailure)] = [
            (.http(200), .unusable), (.json(200, "{}"), .unusable),
            (Self.error(190, 458), .rejected),
        ]
        for (reaction, failure) in strange {
            try await Self.with(answering: reaction) { provider, _ in
                let answer = await provider.revoke(Self.credential(.idToken, fresh))
                #expect(answer == .failure(failure))
            }
        }
    }

    static let rawDigest = "d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde"

    @Test(
        "a Limited Login sign-in is verified with its own keys and the issuer that it publishes",
        arguments: [
            ("https://limited.facebook.com", "raw", nil),
            // SHA-256 of "raw" in hexadecimal.
            ("https://limited.facebook.com", rawDigest, nil),
            ("https://limited.facebook.com", "other", SignInError.Kind.nonceMismatch),
            ("https://www.facebook.com", "raw", .wrongIssuer),
        ]
    )
    func limitedLogin(
        _ issuer: String,
        _ nonce: String,
        _ kind: SignInError.Kind?
    ) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("/openid-configuration/")
                ? .json(200, #"{"issuer":"https://limited.facebook.com"}"#)
                : .json(200, IDTokenGenerator.jwks)
        }
        let token = try IDTokenGenerator.token(
            claims: IDTokenGenerator.claims([
                "aud": #""1234567890""#, "iss": #""\#(issuer)""#, "nonce": #""\#(nonce)""#,
            ])
        )
        try await Self.with(react: react) { provider, _ in
            let signIn = SignIn(
                clientID: Self.appID,
                idToken: Secret(token),
                rawNonce: Secret("raw")
            )
            var broken: SignInError.Kind?
            do throws(SignInError) {
                _ = try await provider.verify(signIn)
            } catch {
                broken = error.kind
            }
            #expect(broken == kind)
        }
    }

    @Test("the self-check tells a wrong secret from a good one")
    func diagnose() async throws {
        try await Self.with(answering: Self.goodApp) { provider, _ in
            #expect(await provider.diagnose() == nil)
        }
        try await Self.with(answering: Self.error(190)) { provider, _ in
            #expect(await provider.diagnose() == .misconfigured)
        }
    }
}
