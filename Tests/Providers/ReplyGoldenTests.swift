import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// One answer on the wire, and what each of the three calls must make of it.
struct Golden: Sendable, CustomTestStringConvertible {
    let name: String
    let reaction: RawServer.Reaction
    var exchange = "failure unusable"
    var check = CheckAnswer.failure(.unusable)
    var revoke = RevokeAnswer.failure(.unusable)

    var testDescription: String { name }

    static func failure(
        _ name: String,
        _ reaction: RawServer.Reaction,
        _ failure: EffectFailure,
        revoke: EffectFailure? = nil
    ) -> Golden {
        Golden(
            name: name,
            reaction: reaction,
            exchange: "failure \(failure)",
            check: .failure(failure),
            revoke: .failure(revoke ?? failure)
        )
    }

    /// No provider's answer to a code or a refresh token, whoever asks.
    static func foreign(_ name: String, _ reaction: RawServer.Reaction, _ status: Int) -> Golden {
        failure(name, reaction, all(status), revoke: .unusable)
    }

    static func all(_ status: Int, _ error: String? = nil) -> EffectFailure {
        .refusesAll(Refusal(status: status, error: error))
    }

    static func error(_ code: String, status: Int = 400) -> RawServer.Reaction {
        .json(status, #"{"error":"\#(code)","error_description":"no r.canary-token-3f8e21b7"}"#)
    }

    static func retryAfter(_ status: Int, _ value: String, _ wait: Duration?) -> Golden {
        failure(
            "\(status) with Retry-After '\(value)'",
            .http(status, ["Retry-After: \(value)"]),
            .throttled(retryAfter: wait)
        )
    }

    static func html(_ status: Int) -> RawServer.Reaction {
        .http(
            status,
            ["Content-Type: text/html"],
            body: Array("<html>sign in to Wi-Fi</html>".utf8)
        )
    }

    static let tokens = #"{"access_token":"a.1","token_type":"Bearer","expires_in":3600}"#

    static func text(_ body: String, type: String = "application/json") -> RawServer.Reaction {
        .http(200, ["Content-Type: \(type)"], body: Array(body.utf8))
    }
}

extension Golden {
    static let documented = [
        Golden(
            name: "tokens",
            reaction: text(tokens),
            exchange: "exchanged refresh=false access=true subject=-",
            check: .live
        ),
        Golden(
            name: "tokens with a refresh token",
            reaction: text(
                #"{"access_token":"a","token_type":"bearer","refresh_token":"r","id_token":"x"}"#
            ),
            exchange: "exchanged refresh=true access=true subject=-",
            check: .live
        ),
        Golden(name: "empty 200", reaction: .http(200), revoke: .success),
        Golden(
            name: "white space 200",
            reaction: .http(200, body: Array(" \r\n".utf8)),
            revoke: .success
        ),
        Golden(
            name: "invalid_grant",
            reaction: error("invalid_grant"),
            exchange: "refused",
            check: .dead,
            revoke: .failure(all(400, "invalid_grant"))
        ),
        failure(
            "invalid_request",
            error("invalid_request"),
            .rejected,
            revoke: all(400, "invalid_request")
        ),
        failure("invalid_client", error("invalid_client"), .misconfigured),
        failure("invalid_client as 401", error("invalid_client", status: 401), .misconfigured),
        failure("unauthorized_client", error("unauthorized_client"), .misconfigured),
        failure("unsupported_grant_type", error("unsupported_grant_type"), .misconfigured),
        failure("invalid_scope", error("invalid_scope"), .misconfigured),
        failure(
            "unknown error",
            error("server_is_tired"),
            .rejected,
            revoke: all(400, "server_is_tired")
        ),
        failure("invalid_grant as 500", error("invalid_grant", status: 500), .unusable),
        failure("invalid_grant as 200", error("invalid_grant", status: 200), .unusable),
    ]

    static let faults = [
        foreign("html 200", html(200), 200), foreign("html 400", html(400), 400),
        foreign("html without a type", .http(200, body: Array("<html></html>".utf8)), 200),
        failure(
            "error as text/plain",
            .http(
                400,
                ["Content-Type: text/plain"],
                body: Array(#"{"error":"invalid_grant"}"#.utf8)
            ),
            .rejected,
            revoke: all(400)
        ),
        failure("tokens as text/plain", text(tokens, type: "text/plain"), .unusable),
        failure("tokens as application/jsonp", text(tokens, type: "application/jsonp"), .unusable),
        failure("204", .bytes(Array("HTTP/1.1 204 X\r\n\r\n".utf8)), .unusable),
        failure("201 empty", .http(201), .unusable),
        failure("cut JSON", text(String(tokens.dropLast(9))), .unusable),
        failure("JSON and more", text(tokens + "x"), .unusable),
        failure(
            "duplicate keys",
            text(#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#),
            .unusable
        ),
        failure(
            "tokens and an error",
            text(#"{"access_token":"a","error":"invalid_grant"}"#),
            .unusable
        ),
        failure(
            "empty access token",
            text(#"{"access_token":"","token_type":"Bearer"}"#),
            .unusable
        ),
        failure("no access token", text("{}"), .unusable),
        failure("another token type", text(#"{"access_token":"a","token_type":"mac"}"#), .unusable),
        failure(
            "deep JSON",
            text(
                #"{"x":"# + String(repeating: "[", count: 5000)
                    + String(repeating: "]", count: 5000) + "}"
            ),
            .unusable
        ),
        failure(
            "invalid UTF-8",
            .http(
                200,
                ["Content-Type: application/json"],
                body: Array(#"{"token_type":"Bearer","access_token":""#.utf8) + [0xc3, 0x28]
                    + Array(#""}"#.utf8)
            ),
            .unusable
        ),
        failure(
            "gzip",
            .http(
                200,
                ["Content-Encoding: gzip", "Content-Type: application/json"],
                body: [0x1f, 0x8b, 8]
            ),
            .unusable
        ),
        failure("huge", .http(200, body: [UInt8](repeating: 0x20, count: 70_000)), .unusable),
        failure(
            "huge without a length",
            .bytesThenClose(
                Array("HTTP/1.1 200 X\r\nConnection: close\r\n\r\n".utf8)
                    + [UInt8](repeating: 0x20, count: 70_000)
            ),
            .unusable
        ),
        failure("body cut off", .bytesThenClose(cut), .lost),
        failure("no answer", .bytesThenClose([]), .lost),
        failure("not HTTP", .bytes(Array("220 mail.example ESMTP\r\n".utf8)), .lost),
        failure("many headers", .bytes(manyHeaders), .lost),
    ]

    static let statuses =
        [foreign("405 empty", .http(405), 405)]
        + [401, 407, 408, 418, 421, 425, 500, 501, 502, 504, 520].map {
            failure("\($0) empty", .http($0), .unusable)
        }

    /// Refusals of a call, which every token gets here.
    static let refusals =
        [400, 409, 422].map { failure("\($0) empty", .http($0), .rejected, revoke: all($0)) }
        + [403, 404, 410].map { failure("\($0) empty", .http($0), all($0)) }
        + [400, 403, 404, 422].map { foreign("html \($0)", html($0), $0) } + [
            failure(
                "422 of a spammed endpoint",
                .json(422, #"{"message":"x"}"#),
                .rejected,
                revoke: all(422)
            ),
            failure("403 of a gateway", .json(403, #"{"message":"Forbidden"}"#), all(403)),
            failure(
                "401 about a token",
                .json(401, #"{"error":"expired"}"#),
                .rejected,
                revoke: all(401, "expired")
            ),
            failure("temporarily_unavailable", error("temporarily_unavailable"), .unusable),
            failure("server_error", error("server_error"), .unusable),
            retryAfter(403, "60", .seconds(60)),
        ]

    static let redirects = [300, 301, 302, 303, 307, 308].map {
        failure("\($0)", .http($0, ["Location: https://192.0.2.1/"]), .unusable)
    }

    static let throttles = [
        failure("429", .http(429), .throttled(retryAfter: nil)),
        failure("503 with html", html(503), .throttled(retryAfter: nil)),
        failure(
            "429 with invalid_grant",
            error("invalid_grant", status: 429),
            .throttled(retryAfter: nil)
        ),
        retryAfter(429, "7", .seconds(7)),
        retryAfter(503, "0", .seconds(1)),
        retryAfter(429, "-5", .seconds(1)),
        retryAfter(503, "1000000000000", .seconds(86_400)),
        retryAfter(503, "99999999999999999999999999", .seconds(86_400)),
        retryAfter(429, "1e12", nil),
        retryAfter(429, "soon", nil),
        retryAfter(503, "Fri, 15 Jan 2027 08:01:00 GMT", .seconds(60)),
        retryAfter(503, "Sun, 06 Nov 1994 08:49:37 GMT", .seconds(1)),
        retryAfter(503, "Fri, 15 Jan 2200 08:01:00 GMT", .seconds(86_400)),
    ]

    private static let cut = Array(
        "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"acc".utf8
    )

    private static let manyHeaders = Array(
        ("HTTP/1.1 200 X\r\n" + String(repeating: "X-Bomb: 0123456789\r\n", count: 10_000) + "\r\n")
            .utf8
    )
}

@Suite("What an answer means")
struct ReplyGoldenTests {
    @Test(
        "only documented answers decide anything",
        arguments: Golden.documented + Golden.faults + Golden.statuses + Golden.refusals
            + Golden.redirects
            + Golden.throttles
    )
    func golden(_ golden: Golden) async throws {
        try await RawServer.with(answering: golden.reaction) { server in
            try await AppleHarness.with(server) { provider in
                let exchange = await provider.exchange(AppleHarness.credential(.authorizationCode))
                let revoke = await provider.revoke(AppleHarness.credential(.refreshToken))
                let check = await provider.check(AppleHarness.credential(.refreshToken))
                #expect(exchange.summary == golden.exchange)
                #expect(revoke == golden.revoke)
                #expect(check == golden.check)
                // What everybody may get is compared with what a made-up token gets.
                let compared = [exchange.summary, "\(revoke)", "\(check)"].count {
                    $0.contains("refusesAll")
                }
                #expect(server.requests.count == 3 + compared)
            }
        }
    }

    @Test("an invalid_request is dead only after Apple understood a refresh of that client")
    func invalidRequest() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.contains("refresh_token=good")
                ? Golden.text(Golden.tokens) : Golden.error("invalid_request")
        }
        try await RawServer.with(react: react) { server in
            try await AppleHarness.with(server) { provider in
                let odd = AppleHarness.credential(.refreshToken, "odd")
                #expect(await provider.check(odd) == .failure(.rejected))
                #expect(
                    await provider.check(AppleHarness.credential(.refreshToken, "good")) == .live
                )
                #expect(await provider.check(odd) == .dead)
            }
        }
    }

    @Test("a redirect URI that Apple dislikes refuses the code and does not pause the provider")
    func wrongRedirectURI() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            Golden.error(request.contains("redirect_uri=") ? "invalid_client" : "invalid_grant")
        }
        try await RawServer.with(react: react) { server in
            try await AppleHarness.with(server) { provider in
                let code = AppleHarness.credential(
                    .authorizationCode,
                    redirectURI: "https://a.example"
                )
                #expect(await provider.exchange(code).summary == "refused")
            }
        }
        try await RawServer.with(answering: Golden.error("invalid_client")) { server in
            try await AppleHarness.with(server) { provider in
                let code = AppleHarness.credential(
                    .authorizationCode,
                    redirectURI: "https://a.example"
                )
                #expect(await provider.exchange(code).summary == "failure misconfigured")
            }
        }
    }

    @Test("a credential that the call is not for is never sent")
    func wrongKinds() async throws {
        try await RawServer.with(answering: .http(200)) { server in
            try await AppleHarness.with(server) { provider in
                for kind in [CredentialKind.authorizationCode, .idToken] {
                    #expect(
                        await provider.revoke(AppleHarness.credential(kind)) == .failure(.unusable)
                    )
                }
                for kind in [CredentialKind.authorizationCode, .idToken, .accessToken] {
                    #expect(
                        await provider.check(AppleHarness.credential(kind)) == .failure(.unusable)
                    )
                }
                let stranger = AppleHarness.credential(
                    .refreshToken,
                    clientID: "com.example.stranger"
                )
                #expect(await provider.revoke(stranger) == .failure(.misconfigured))
                #expect(await provider.check(stranger) == .failure(.misconfigured))
                #expect(server.connectionCount == 0)
            }
        }
    }

    @Test("a key that does not sign is a matter of set-up, and nothing is sent")
    func brokenSigner() async throws {
        try await RawServer.with(answering: .http(200)) { server in
            let settings = AppleHarness.settings("http://127.0.0.1:\(server.port)")
            try await AppleHarness.with(settings, signer: BrokenSigner()) { provider in
                let answer = await provider.revoke(AppleHarness.credential(.refreshToken))
                #expect(answer == .failure(.misconfigured))
                #expect(server.connectionCount == 0)
            }
        }
    }
}
