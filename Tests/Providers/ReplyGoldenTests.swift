import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// One answer on the wire, and what each of the three calls must make of it.
struct Golden: Sendable, CustomTestStringConvertible {
    let name: String
    let reaction: RawServer.Reaction
    var exchange = "trouble unusable"
    var check = CheckAnswer.trouble(.unusable)
    var revoke = RevokeAnswer.trouble(.unusable)

    var testDescription: String { name }

    static func trouble(
        _ name: String,
        _ reaction: RawServer.Reaction,
        _ trouble: Trouble
    ) -> Golden {
        Golden(
            name: name,
            reaction: reaction,
            exchange: "trouble \(trouble)",
            check: .trouble(trouble),
            revoke: .trouble(trouble)
        )
    }

    /// Whether the answer may be about the token or about the endpoint.
    var isCompared: Bool {
        switch revoke {
        case .trouble(.rejected), .trouble(.wrongEndpoint): true
        default: false
        }
    }

    static func error(_ code: String, status: Int = 400) -> RawServer.Reaction {
        .json(status, #"{"error":"\#(code)","error_description":"no r.canary-token-3f8e21b7"}"#)
    }

    static func retryAfter(_ status: Int, _ value: String, _ wait: Duration?) -> Golden {
        trouble(
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
            revoke: .trouble(.rejected)
        ),
        trouble("invalid_request", error("invalid_request"), .rejected),
        trouble("invalid_client", error("invalid_client"), .misconfigured),
        trouble("invalid_client as 401", error("invalid_client", status: 401), .misconfigured),
        trouble("unauthorized_client", error("unauthorized_client"), .misconfigured),
        trouble("unsupported_grant_type", error("unsupported_grant_type"), .misconfigured),
        trouble("invalid_scope", error("invalid_scope"), .misconfigured),
        trouble("unknown error", error("server_is_tired"), .rejected),
        trouble("invalid_grant as 500", error("invalid_grant", status: 500), .unusable),
        trouble("invalid_grant as 200", error("invalid_grant", status: 200), .unusable),
    ]

    static let faults = [
        trouble("html 200", html(200), .unusable),
        trouble("html 400", html(400), .unusable),
        trouble("html without a type", .http(200, body: Array("<html></html>".utf8)), .unusable),
        trouble(
            "error as text/plain",
            .http(
                400,
                ["Content-Type: text/plain"],
                body: Array(#"{"error":"invalid_grant"}"#.utf8)
            ),
            .rejected
        ),
        trouble("tokens as text/plain", text(tokens, type: "text/plain"), .unusable),
        trouble("tokens as application/jsonp", text(tokens, type: "application/jsonp"), .unusable),
        trouble("204", .bytes(Array("HTTP/1.1 204 X\r\n\r\n".utf8)), .unusable),
        trouble("201 empty", .http(201), .unusable),
        trouble("cut JSON", text(String(tokens.dropLast(9))), .unusable),
        trouble("JSON and more", text(tokens + "x"), .unusable),
        trouble(
            "duplicate keys",
            text(#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#),
            .unusable
        ),
        trouble(
            "tokens and an error",
            text(#"{"access_token":"a","error":"invalid_grant"}"#),
            .unusable
        ),
        trouble(
            "empty access token",
            text(#"{"access_token":"","token_type":"Bearer"}"#),
            .unusable
        ),
        trouble("no access token", text("{}"), .unusable),
        trouble("another token type", text(#"{"access_token":"a","token_type":"mac"}"#), .unusable),
        trouble(
            "deep JSON",
            text(
                #"{"x":"# + String(repeating: "[", count: 5000)
                    + String(repeating: "]", count: 5000) + "}"
            ),
            .unusable
        ),
        trouble(
            "invalid UTF-8",
            .http(
                200,
                ["Content-Type: application/json"],
                body: Array(#"{"token_type":"Bearer","access_token":""#.utf8) + [0xc3, 0x28]
                    + Array(#""}"#.utf8)
            ),
            .unusable
        ),
        trouble(
            "gzip",
            .http(
                200,
                ["Content-Encoding: gzip", "Content-Type: application/json"],
                body: [0x1f, 0x8b, 8]
            ),
            .unusable
        ),
        trouble("huge", .http(200, body: [UInt8](repeating: 0x20, count: 70_000)), .unusable),
        trouble(
            "huge without a length",
            .bytesThenClose(
                Array("HTTP/1.1 200 X\r\nConnection: close\r\n\r\n".utf8)
                    + [UInt8](repeating: 0x20, count: 70_000)
            ),
            .unusable
        ),
        trouble("body cut off", .bytesThenClose(cut), .lost),
        trouble("no answer", .bytesThenClose([]), .lost),
        trouble("not HTTP", .bytes(Array("220 mail.example ESMTP\r\n".utf8)), .lost),
        trouble("many headers", .bytes(manyHeaders), .lost),
    ]

    static let statuses = [401, 405, 407, 408, 418, 421, 425, 500, 501, 502, 504, 520].map {
        trouble("\($0) empty", .http($0), .unusable)
    }

    /// The provider's own refusals of a call: they count against the user or the token alone.
    static let refusals =
        [400, 403, 409, 422].map { trouble("\($0) empty", .http($0), .rejected) }
        + [404, 410].map { status in
            Golden(
                name: "\(status) empty",
                reaction: .http(status),
                exchange: "trouble rejected",
                check: .trouble(.rejected),
                revoke: .trouble(.wrongEndpoint(Refusal(status: status)))
            )
        }
        + [400, 403, 404, 422].map { trouble("html \($0)", html($0), .unusable) } + [
            trouble("422 of a spammed endpoint", .json(422, #"{"message":"x"}"#), .rejected),
            trouble("401 about a token", .json(401, #"{"error":"expired"}"#), .rejected),
            trouble("temporarily_unavailable", error("temporarily_unavailable"), .unusable),
            trouble("server_error", error("server_error"), .unusable),
            retryAfter(403, "60", .seconds(60)),
        ]

    static let redirects = [300, 301, 302, 303, 307, 308].map {
        trouble("\($0)", .http($0, ["Location: https://192.0.2.1/"]), .unusable)
    }

    static let throttles = [
        trouble("429", .http(429), .throttled(retryAfter: nil)),
        trouble("503 with html", html(503), .throttled(retryAfter: nil)),
        trouble(
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
                // A refused token is compared with one that cannot exist.
                #expect(server.requests.count == (golden.isCompared ? 4 : 3))
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
                #expect(await provider.check(odd) == .trouble(.rejected))
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
                #expect(await provider.exchange(code).summary == "trouble misconfigured")
            }
        }
    }

    @Test("a credential that the call is not for is never sent")
    func wrongKinds() async throws {
        try await RawServer.with(answering: .http(200)) { server in
            try await AppleHarness.with(server) { provider in
                for kind in [CredentialKind.authorizationCode, .idToken] {
                    #expect(
                        await provider.revoke(AppleHarness.credential(kind)) == .trouble(.unusable)
                    )
                }
                for kind in [CredentialKind.authorizationCode, .idToken, .accessToken] {
                    #expect(
                        await provider.check(AppleHarness.credential(kind)) == .trouble(.unusable)
                    )
                }
                let stranger = AppleHarness.credential(
                    .refreshToken,
                    clientID: "com.example.stranger"
                )
                #expect(await provider.revoke(stranger) == .trouble(.misconfigured))
                #expect(await provider.check(stranger) == .trouble(.misconfigured))
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
                #expect(answer == .trouble(.misconfigured))
                #expect(server.connectionCount == 0)
            }
        }
    }
}
