import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// A success for one client beside a refusal for another, one of which is the token's own.
@Suite("The client that a token belongs to")
struct OwnClientTests {
    static let token = OAuth2Harness.credential(.refreshToken)
    static let frozen = RawServer.Reaction.json(403, #"{"error":"account_frozen"}"#)
    static let refused = RevokeAnswer.failure(
        .refused(Refusal(status: 403, error: "account_frozen"))
    )

    /// What a server answers about the token, by the client that asks.
    struct Answers: Sendable {
        var first = RawServer.Reaction.http(200)
        var second = RawServer.Reaction.http(200)
        /// At the token endpoint.
        var firstRefresh = Golden.error("invalid_grant")
        var secondRefresh = Golden.error("invalid_grant")

        func react(_ request: String) -> RawServer.Reaction {
            // app2:secret2
            let isSecond = request.contains("Authorization: Basic YXBwMjpzZWNyZXQy\r\n")
            let isAboutToken = request.contains("token=t0ken")
            if request.hasPrefix("POST /token") {
                if request.contains("code=c0de") {
                    return Golden.text(
                        #"{"access_token":"a","token_type":"Bearer","refresh_token":"t0ken"}"#
                    )
                }
                guard isAboutToken || isSecond && isSecondAlwaysRefused else {
                    return Golden.error("invalid_grant")
                }
                return isSecond ? secondRefresh : firstRefresh
            }
            guard isAboutToken else {
                return isSecond && isSecondAlwaysRefused ? second : .http(200)
            }
            return isSecond ? second : first
        }

        /// The second client is refused whatever it asks.
        var isSecondAlwaysRefused = false
    }

    private static func with(
        _ answers: Answers,
        check: OAuth2Check = .none,
        _ body: (OAuth2Provider, RawServer) async throws -> Void
    ) async throws {
        try await RawServer.with(react: answers.react) { server in
            let one = OAuth2Harness.at(server, .standard, check: check)
            let settings = SeveralClientsTests.settings(like: one, check: check)
            try await OAuth2Harness.with(settings) { try await body($0, server) }
        }
    }

    @Test("a token is revoked by the client that got it for a code, and by no other")
    func exchanged() async throws {
        try await Self.with(Answers(first: Self.frozen)) { provider, server in
            let code = OAuth2Harness.credential(.authorizationCode, "c0de")
            guard case .exchanged = await provider.exchange(code) else {
                Issue.record("no tokens")
                return
            }
            #expect(await provider.revoke(Self.token) == Self.refused)
            #expect(!server.requests.contains { $0.contains("YXBwMjpzZWNyZXQy") })
        }
    }

    @Test("a success for another client says nothing while the stored one is refused")
    func stored() async throws {
        try await Self.with(Answers(first: Self.frozen)) { provider, _ in
            #expect(await provider.revoke(Self.token) == Self.refused)
        }
    }

    /// Without a check a token is seen live only if the stored client got it for a code.
    static let expired: [(OAuth2Check, RevokeAnswer)] = [
        (
            .refresh,
            .failure(.refusesAll(Refusal(status: 401, error: "invalid_client", client: "app2")))
        ), (.none, .success),
    ]

    @Test("the secret of the other client has run out", arguments: expired)
    func misconfigured(_ check: OAuth2Check, _ answer: RevokeAnswer) async throws {
        let invalid = Golden.error("invalid_client", status: 401)
        let answers = Answers(
            second: invalid,
            secondRefresh: invalid,
            isSecondAlwaysRefused: true
        )
        try await Self.with(answers, check: check) { provider, _ in
            #expect(await provider.revoke(Self.token) == answer)
        }
    }

    /// What the other client gets, and whether the server can be asked about the token.
    static let otherAnswers: [(RawServer.Reaction, OAuth2Check)] = [
        (Golden.error("invalid_request"), .none), (Golden.error("invalid_request"), .refresh),
        (Golden.error("unauthorized_client", status: 403), .none),
        (Golden.error("invalid_client", status: 401), .refresh),
    ]

    @Test(
        "servers that refuse another client's token do not spoil a success",
        arguments: otherAnswers
    )
    func others(_ second: RawServer.Reaction, _ check: OAuth2Check) async throws {
        try await Self.with(Answers(second: second), check: check) { provider, _ in
            #expect(await provider.revoke(Self.token) == .success)
        }
    }

    @Test(
        "a token under the wrong client is revoked where the server names the client",
        arguments: [400, 401, 403]
    )
    func wrongClient(_ status: Int) async throws {
        let answers = Answers(first: Golden.error("unauthorized_client", status: status))
        try await Self.with(answers) { provider, _ in
            #expect(await provider.revoke(Self.token) == .success)
        }
    }

    @Test(
        "a token is neither revoked nor dead while its own client is only refused",
        arguments: [RawServer.Reaction.http(200), Golden.error("invalid_token")]
    )
    func refusedOwner(_ first: RawServer.Reaction) async throws {
        let answers = Answers(first: first, second: Self.frozen, secondRefresh: Self.frozen)
        try await Self.with(answers, check: .refresh) { provider, _ in
            guard case .failure(.refused) = await provider.check(Self.token),
                case .failure(.refused) = await provider.revoke(Self.token)
            else {
                Issue.record("the refusal is lost")
                return
            }
        }
    }

    /// What Apple answers the stored client and the other one.
    static let appleStatuses: [(Int, Int)] = [(400, 200), (200, 400)]

    @Test("Apple says success to anything, so one refusal decides", arguments: appleStatuses)
    func apple(_ first: Int, _ second: Int) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.contains("token=r.") else { return .http(200) }
            let isSecond = request.contains("client_id=com.example.web")
            let status = isSecond ? second : first
            return status == 200 ? .http(200) : Golden.error("invalid_request")
        }
        try await RawServer.with(react: react) { server in
            let settings = AppleHarness.settings(
                "http://127.0.0.1:\(server.port)",
                clientIDs: [AppleHarness.clientID, "com.example.web"]
            )
            try await AppleHarness.with(settings) { provider in
                let answer = await provider.revoke(AppleHarness.credential(.refreshToken))
                let refusal = Refusal(status: 400, error: "invalid_request")
                #expect(answer == .failure(.refused(refusal)))
            }
        }
    }
}
