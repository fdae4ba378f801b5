import Lifecycle
import Logging
import NIOHTTP1
import NIOPosix
import Testing

@testable import HTTP
@testable import Providers

@Suite("What a call puts on the wire")
struct RemoteRequestTests {
    /// Sends one call to a server that answers 200, and returns what arrived there.
    static func wire(
        _ path: String,
        _ method: HTTPMethod,
        request: (RemoteEndpoint) throws -> RemoteRequest
    ) async throws -> [Substring] {
        try await RawServer.with(answering: .http(200)) { server in
            var settings = RemoteSettings(name: ProviderName("p"))
            FamilyHarness.relax(&settings)
            let base = try RemoteBaseURL("http://127.0.0.1:\(server.port)/v1/", settings)
            let endpoint = try RemoteEndpoint(base, path: path, method: method)
            let prepared = try request(endpoint)
            let client = try RemoteClient(
                settings,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "test")
            )
            _ = await client.send(prepared)
            await client.shutdown()
            return try #require(server.requests.first).split(
                separator: "\r\n",
                omittingEmptySubsequences: false
            )
        }
    }

    @Test("a JSON body goes with DELETE and Basic, and every text in it is data")
    func deleteWithJSON() async throws {
        let lines = try await Self.wire("/applications/{}/grant", .DELETE) { endpoint in
            var request = try #require(RemoteRequest(endpoint, filling: [Secret("Iv1.a/b")]))
            var body = JSONBody()
            body.add("access_token", Secret("t\"\\\u{1}é"))
            body.add("note", "x")
            request.body = .json(body)
            request.authorization = .basic("Aladdin", Secret("open sesame"))
            return request
        }
        #expect(lines.first == "DELETE /v1/applications/Iv1.a%2Fb/grant HTTP/1.1")
        #expect(lines.contains("Content-Type: application/json"))
        #expect(lines.contains("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="))
        #expect(lines.last == #"{"access_token":"t\"\\\u0001é","note":"x"}"#)
    }

    @Test("a bearer call without a body has none, and a query is percent-encoded")
    func bearerWithQuery() async throws {
        let lines = try await Self.wire("/me", .POST) { endpoint in
            var request = RemoteRequest(endpoint)
            request.authorization = .bearer(Secret("tok.en"))
            var query = FormBody()
            query.add("a", "x y&z=/é")
            request.query = query
            return request
        }
        #expect(lines.first == "POST /v1/me?a=x%20y%26z%3D%2F%C3%A9 HTTP/1.1")
        #expect(lines.contains("Authorization: Bearer tok.en"))
        #expect(!lines.contains { $0.lowercased().hasPrefix("content-type") })
        #expect(lines.last?.isEmpty == true)
    }

    @Test("a client's name and secret are form-encoded before Basic (RFC 6749 §2.3.1)")
    func clientCredentials() {
        let header = Authorization.client("a:b", Secret("p@ss word"))
        // a%3Ab:p%40ss%20word
        #expect(header.text == "Basic YSUzQWI6cCU0MHNzJTIwd29yZA==")
        #expect("\(header)" == "[redacted]")
    }

    @Test("no value changes the path, and no token becomes a second header")
    func refusedValues() throws {
        var settings = RemoteSettings(name: ProviderName("p"))
        settings.allowsPlainLoopback = true
        let base = try RemoteBaseURL("https://p.example", settings)
        let endpoint = try RemoteEndpoint(base, path: "/{}/permissions", method: .DELETE)
        for value in ["", ".", ".."] {
            #expect(RemoteRequest(endpoint, filling: [Secret(value)]) == nil)
        }
        for token in ["", "a\r\nX: y", "é", "a\u{0}"] {
            #expect(Authorization.bearer(Secret(token)) == nil)
        }
    }
}

@Suite("The shapes of a body")
struct ReplyShapeTests {
    static func body(_ text: String, type: String = "application/json") -> ReplyBody {
        ReplyBody(RemoteReply(status: 200, contentType: type, body: Array(text.utf8)))
    }

    @Test(
        "a member is found by its path and tested by its type",
        arguments: [
            (#"{"error":{"code":190}}"#, .member("error.code", .number([190])), true),
            (#"{"error":{"code":"190"}}"#, .member("error.code", .number([190])), false),
            (#"{"errors":[{"code":89}]}"#, .member("errors.0.code", .number([89])), true),
            (#"{"errors":[]}"#, .member("errors.0.code", .number([89])), false),
            ("true", .member("", .isTrue), true), ("\"true\"", .member("", .isTrue), false),
            (#"{"active":false}"#, .member("active", .isFalse), true),
            (#"{"active":"false"}"#, .member("active", .isFalse), false),
            (#"{"a":null}"#, .member("a", .isPresent), true),
            (#"{"a":1}"#, .member("b", .isAbsent), true),
            (#"{"n":190.5}"#, .member("n", .number([190])), false),
            (
                #"{"r":"success","t":1}"#,
                .both(.member("r", .text(["success"])), .member("t", .isPresent)), true
            ),
            (#"{"r":"fail"}"#, .member("r", .text(["success"])), false),
            ("{}", .object, true), (#"{"error":"x"}"#, .object, false), ("[]", .object, false),
        ] as [(String, ReplyShape, Bool)]
    )
    func members(_ text: String, shape: ReplyShape, fits: Bool) {
        #expect(Self.body(text).has(shape) == fits)
        #expect(!Self.body(text, type: "text/html").has(shape))
        #expect(Self.body(text, type: "application/problem+json").has(shape) == fits)
    }
}
