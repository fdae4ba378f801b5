import Encoding
import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Whom a refused revocation concerns")
struct RefusedTokenTests {
    private static let odd = OAuth2Harness.credential(.accessToken, "odd")
    private static let good = OAuth2Harness.credential(.accessToken, "good")

    /// Runs a provider against a server that answers by the token.
    private static func with(
        odd: RawServer.Reaction,
        good: RawServer.Reaction = .http(200),
        madeUp: RawServer.Reaction,
        now: @escaping @Sendable () -> WallTime = { ManualTime().now },
        _ body: (OAuth2Provider, RawServer) async throws -> Void
    ) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            if request.hasPrefix("POST /token") { return Golden.error("invalid_grant") }
            if request.contains("token=odd") { return odd }
            return request.contains("token=good") ? good : madeUp
        }
        try await RawServer.with(react: react) { server in
            let settings = OAuth2Harness.at(server, .standard)
            try await OAuth2Harness.with(settings, now: now) { provider in
                try await body(provider, server)
            }
        }
    }

    @Test("a refusal is the token's when the same server answers properly about another one")
    func token() async throws {
        let odd = RawServer.Reaction.json(422, #"{"error":"validation_failed"}"#)
        try await Self.with(odd: odd, madeUp: .http(200)) { provider, server in
            let refused = EffectFailure.refused(Refusal(status: 422, error: "validation_failed"))
            #expect(await provider.revoke(Self.odd) == .failure(refused))
            // What was seen a moment ago is not asked for again.
            #expect(await provider.revoke(Self.odd) == .failure(refused))
            #expect(server.requests.count == 3)
        }
    }

    @Test(
        "nothing else that goes wrong is the token's",
        arguments: [
            (Golden.html(403), EffectFailure.unusable), (.http(500), .unusable),
            (.http(429), .throttled(retryAfter: nil)), (.http(503), .throttled(retryAfter: nil)),
            (Golden.error("invalid_client", status: 401), .rejected),
            (Golden.error("temporarily_unavailable"), .unusable),
        ]
    )
    func others(_ odd: RawServer.Reaction, _ failure: EffectFailure) async throws {
        try await Self.with(odd: odd, madeUp: .http(200)) { provider, _ in
            #expect(await provider.revoke(Self.odd) == .failure(failure))
        }
    }

    @Test(
        "an endpoint that is none is the provider's failure, however often it is asked",
        arguments: [
            RawServer.Reaction.http(404), .http(405), Golden.html(404), Golden.html(400),
            Golden.html(200), .json(404, #"{"detail":"Not Found"}"#),
            .json(404, #"{"status":404,"error":"Not Found"}"#),
            .json(404, #"{"error":"not_found"}"#), .json(403, #"{"message":"Forbidden"}"#),
            .http(403),
        ]
    )
    func refusesAll(_ reaction: RawServer.Reaction) async throws {
        try await Self.with(odd: reaction, good: reaction, madeUp: reaction) { provider, _ in
            for token in [Self.odd, Self.good, Self.odd] {
                let answer = await provider.revoke(token)
                guard case .failure(.refusesAll) = answer else {
                    Issue.record("\(answer)")
                    return
                }
            }
            let problem = try #require(await provider.problem())
            #expect(problem.text.contains("/revoke"))
            #expect(problem.text.contains("revocation_url"))
        }
    }

    @Test(
        "where a made-up token gets the same error code, no refusal counts, however long it lasts",
        arguments: [(404, "token_not_found"), (400, "invalid_request")]
    )
    func sameAnswer(_ status: Int, _ error: String) async throws {
        let missing = Golden.error(error, status: status)
        let answer = Refusal(status: status, error: error)
        let time = ManualTime()
        let now: @Sendable () -> WallTime = { time.now }
        try await Self.with(odd: missing, madeUp: missing, now: now) { provider, _ in
            #expect(await provider.revoke(Self.odd) == .failure(.refusesAll(answer)))
            // A gateway that comes and goes answers so, too.
            for _ in 1...Limits.refusalsMax {
                #expect(await provider.revoke(Self.good) == .success)
                #expect(await provider.revoke(Self.odd) == .failure(.rejected))
                time.advance(by: Limits.refusalSpacing)
                #expect(await provider.revoke(Self.odd) == .failure(.refusesAll(answer)))
            }
        }
    }

    @Test(
        "an endpoint that honored tokens is gone when it answers without an error code",
        arguments: [
            (RawServer.Reaction.http(404), 404), (Golden.html(404), 404), (.json(404, "{}"), 404),
            (.json(403, #"{"message":"Forbidden"}"#), 403),
        ]
    )
    func gone(_ reaction: RawServer.Reaction, _ status: Int) async throws {
        try await Self.with(odd: reaction, madeUp: reaction) { provider, _ in
            #expect(await provider.revoke(Self.good) == .success)
            for _ in 1...20 {
                #expect(
                    await provider.revoke(Self.odd)
                        == .failure(.refusesAll(Refusal(status: status)))
                )
            }
        }
    }

    @Test(
        "a check finds a revocation endpoint that fails",
        arguments: [
            (RawServer.Reaction.http(500), EffectFailure.unusable), (.bytesThenClose([]), .lost),
            (.http(429), .throttled(retryAfter: nil)), (.http(503), .throttled(retryAfter: nil)),
            (Golden.error("temporarily_unavailable"), .unusable),
        ]
    )
    func failing(_ madeUp: RawServer.Reaction, _ failure: EffectFailure) async throws {
        try await Self.with(odd: .http(200), madeUp: madeUp) { provider, _ in
            let problem = try #require(await provider.problem())
            #expect(problem.failure == failure)
            #expect(problem.text.contains("/revoke"))
        }
    }

    @Test(
        "a check finds nothing where an endpoint answers in its own way",
        arguments: [
            RawServer.Reaction.http(202), .json(200, #"{"error":"unknown_token"}"#),
            .json(403, #"{"error":"unknown_token"}"#),
        ]
    )
    func answering(_ madeUp: RawServer.Reaction) async throws {
        try await Self.with(odd: .http(200), madeUp: madeUp) { provider, _ in
            #expect(await provider.problem() == nil)
        }
    }

    @Test(
        "a code that a page answered may be spent, whatever the probe after it meets",
        arguments: [RawServer.Reaction.http(503), .http(500), Golden.error("invalid_grant")]
    )
    func codeBehindPage(_ probe: RawServer.Reaction) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("code=c0de") ? Golden.html(403) : probe
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, .standard)) { provider in
                let code = OAuth2Harness.credential(.authorizationCode, "c0de")
                #expect(await provider.exchange(code).summary == "failure unusable")
            }
        }
    }

    @Test("a refusal shows a code, and nothing that may quote a token")
    func codes() {
        #expect(Refusal(status: 400, error: "invalid_request").text == "400 invalid_request")
        for text in ["r.1", "Bad token x", "", String(repeating: "a", count: 41), "1//0g"] {
            #expect(Refusal(status: 422, error: text).text == "422")
        }
    }

    @Test("a problem names the endpoint, the client and what to change")
    func problem() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            Golden.error("invalid_client", status: 401)
        }
        try await RawServer.with(react: react) { server in
            try await OAuth2Harness.with(OAuth2Harness.at(server, .standard)) { provider in
                let problem = try #require(await provider.problem())
                #expect(problem.failure == .misconfigured)
                #expect(
                    problem.finding
                        == "misconfigured: the token endpoint http://127.0.0.1:\(server.port)/token"
                        + " refused the client id 'app': 401 invalid_client; check client_ids,"
                        + " client_secret_credential and client_authentication"
                )
            }
        }
    }

    @Test("a program says that one token is refused, and why")
    func program() throws {
        let text = #"{"outcome":"rejected","status":422,"error":"frozen"}"#
        let json = try #require(JSONValue(Array(text.utf8)))
        let refused = EffectFailure.refused(Refusal(status: 422, error: "frozen"))
        #expect(CommandAnswers.revoke(json) == .failure(refused))
        #expect(CommandAnswers.check(json).0 == .failure(refused))
        guard case .failure(refused) = CommandAnswers.exchange(json) else {
            Issue.record("the code was not refused")
            return
        }
    }
}
