import Engine
import FoundationEssentials
import Glibc
import Lifecycle
import Logging
import NIOPosix
import NIOSSL
import Testing

@testable import HTTP
@testable import Providers

/// A certificate, what the client is told to trust, and whether that must do.
struct TLSCase: Sendable, CustomTestStringConvertible {
    let name: String
    let certificate: String
    var trusted: String? = Fixtures.goodCertificate
    var versionMax: TLSVersion?
    let answer: RevokeAnswer

    var testDescription: String { name }

    static let all = [
        TLSCase(name: "good", certificate: Fixtures.goodCertificate, answer: .success),
        TLSCase(
            name: "TLS 1.2",
            certificate: Fixtures.goodCertificate,
            versionMax: .tlsv12,
            answer: .success
        ),
        TLSCase(
            name: "TLS 1.1",
            certificate: Fixtures.goodCertificate,
            versionMax: .tlsv11,
            answer: .failure(.unreachable)
        ),
        TLSCase(
            name: "system roots",
            certificate: Fixtures.goodCertificate,
            trusted: nil,
            answer: .failure(.unreachable)
        ),
        TLSCase(
            name: "other root",
            certificate: Fixtures.goodCertificate,
            trusted: Fixtures.otherHostCertificate,
            answer: .failure(.unreachable)
        ),
        TLSCase(
            name: "other host",
            certificate: Fixtures.otherHostCertificate,
            trusted: Fixtures.otherHostCertificate,
            answer: .failure(.unreachable)
        ),
        TLSCase(
            name: "expired",
            certificate: Fixtures.expiredCertificate,
            trusted: Fixtures.expiredCertificate,
            answer: .failure(.unreachable)
        ),
    ]

    func serverContext() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(Fixtures.serverKey.utf8), format: .pem)
            )
        )
        tls.minimumTLSVersion = .tlsv1
        tls.maximumTLSVersion = versionMax
        return try NIOSSLContext(configuration: tls)
    }
}

@Suite("How a token travels")
struct TransportTests {
    static let token = AppleHarness.credential(.refreshToken)

    @Test("a token goes out only over verified TLS 1.2 or newer", arguments: TLSCase.all)
    func tls(_ tls: TLSCase) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "expunged-\(UUID().uuidString).pem"
        )
        defer { unsafe unlink(file.path) }
        if let trusted = tls.trusted { try Data(trusted.utf8).write(to: file) }
        try await RawServer.with(tls: tls.serverContext(), answering: .http(200)) { server in
            for host in ["127.0.0.1", "localhost"] {
                var settings = AppleHarness.settings("https://\(host):\(server.port)")
                settings.http.caFile = tls.trusted == nil ? nil : file.path
                try await AppleHarness.with(settings) { provider in
                    #expect(await provider.revoke(Self.token) == tls.answer)
                }
            }
            #expect(server.requests.isEmpty == (tls.answer != .success))
        }
    }

    @Test("a refused connection is unreachable for every call")
    func refused() async throws {
        let port = try await RawServer.with(answering: .silence) { $0.port }
        try await AppleHarness.with(AppleHarness.settings("http://127.0.0.1:\(port)")) { provider in
            #expect(await provider.revoke(Self.token) == .failure(.unreachable))
            #expect(await provider.check(Self.token) == .failure(.unreachable))
            let code = AppleHarness.credential(.authorizationCode)
            #expect(await provider.exchange(code).summary == "failure unreachable")
            #expect(await provider.diagnose() == .unreachable)
        }
    }

    @Test("a name that does not resolve is unreachable")
    func unknownName() async throws {
        // A label of 64 bytes is no name at all (RFC 1035 §2.3.4), so that no name server is asked.
        let name = String(repeating: "a", count: 64) + ".invalid"
        try await AppleHarness.with(AppleHarness.settings("https://\(name)")) { provider in
            #expect(await provider.revoke(Self.token) == .failure(.unreachable))
        }
    }

    @Test("silence after the request is lost, at the deadline")
    func silence() async throws {
        try await RawServer.with(answering: .silence) { server in
            var settings = AppleHarness.settings("http://127.0.0.1:\(server.port)")
            settings.http.timeoutTotal = .seconds(1)
            try await AppleHarness.with(settings) { provider in
                #expect(await Self.sent { await provider.revoke(Self.token) } == .failure(.lost))
            }
        }
    }

    /// Makes a call again while a machine that is held up ends it before it was sent.
    private static func sent(_ call: () async -> RevokeAnswer) async -> RevokeAnswer {
        var answer = RevokeAnswer.failure(.unreachable)
        for _ in 0..<100 where answer == .failure(.unreachable) { answer = await call() }
        return answer
    }

    @Test("a call that gets no connection in time was not sent", .timeLimit(.minutes(10)))
    func poolTimeout() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            arrival.yield()
            return .silence
        }
        try await RawServer.with(react: react) { server in
            var settings = AppleHarness.settings("http://127.0.0.1:\(server.port)")
            settings.http.concurrency = 1
            settings.http.timeoutConnect = .seconds(1)
            settings.http.timeoutTotal = .seconds(300)
            try await AppleHarness.with(settings) { provider in
                let first = await withTaskGroup(of: RevokeAnswer.self) { group in
                    group.addTask { await Self.sent { await provider.revoke(Self.token) } }
                    for await _ in arrivals { break }
                    // The only connection is that of the first call now.
                    #expect(await provider.revoke(Self.token) == .failure(.unreachable))
                    group.cancelAll()
                    return await group.next()
                }
                #expect(first == .failure(.lost))
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test("a cancelled call is lost once it was sent, and unreachable before")
    func cancellation() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let react: @Sendable (String) -> RawServer.Reaction = { _ in
            arrival.yield()
            return .silence
        }
        try await RawServer.with(react: react) { server in
            try await AppleHarness.with(server) { provider in
                let sent = await withTaskGroup(of: RevokeAnswer?.self) { group in
                    group.addTask { await provider.revoke(Self.token) }
                    for await _ in arrivals { break }
                    group.cancelAll()
                    return await group.next() ?? nil
                }
                #expect(sent == .failure(.lost))
                let unsent = await withTaskGroup(of: RevokeAnswer?.self) { group in
                    group.cancelAll()
                    group.addTask { await provider.revoke(Self.token) }
                    return await group.next() ?? nil
                }
                #expect(unsent == .failure(.unreachable))
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test("a redirect is not followed, and a proxy of the environment is not asked")
    func noOtherHost() async throws {
        try await RawServer.with(answering: .http(200)) { stranger in
            let address = "http://127.0.0.1:\(stranger.port)"
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"] {
                unsafe setenv(name, address, 1)
            }
            defer {
                for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"]
                {
                    unsafe unsetenv(name)
                }
            }
            let redirect = RawServer.Reaction.http(308, ["Location: \(address)/auth/revoke"])
            try await RawServer.with(answering: redirect) { server in
                try await AppleHarness.with(server) { provider in
                    #expect(await provider.revoke(Self.token) == .failure(.unusable))
                    #expect(await provider.check(Self.token) == .failure(.unusable))
                }
                #expect(server.requests.count == 2)
            }
            #expect(stranger.connectionCount == 0)
        }
    }

    @Test("one connection serves calls one after the other, and no cookie comes back")
    func keepAlive() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in .http(200, ["Set-Cookie: a=b"])
        }
        try await RawServer.with(react: react) { server in
            try await AppleHarness.with(server) { provider in
                for _ in 0..<5 { #expect(await provider.revoke(Self.token) == .success) }
            }
            #expect(server.connectionCount == 1)
            #expect(!server.requests.contains { $0.lowercased().contains("cookie:") })
        }
    }

    @Test("the request is the documented one, byte for byte, whatever the token holds")
    func wire() async throws {
        try await RawServer.with(answering: .http(200)) { server in
            try await AppleHarness.with(server) { provider in
                let token = AppleHarness.credential(.refreshToken, "a\r\nX: y&token=z é")
                #expect(await provider.revoke(token) == .success)
            }
            let request = try #require(server.requests.first)
            let lines = request.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.first == "POST /auth/revoke HTTP/1.1")
            #expect(lines.contains("Content-Type: application/x-www-form-urlencoded"))
            #expect(lines.contains("host: 127.0.0.1:\(server.port)"))
            let fields = try #require(lines.last).split(separator: "&")
            #expect(
                fields.map { $0.prefix { $0 != "=" } } == [
                    "client_id", "client_secret", "token", "token_type_hint",
                ]
            )
            #expect(fields[0] == "client_id=com.example.app")
            #expect(fields[2] == "token=a%0D%0AX%3A%20y%26token%3Dz%20%C3%A9")
            #expect(fields[3] == "token_type_hint=refresh_token")
        }
    }

    @Test(
        "only https is a base URL, and plain http needs permission and loopback",
        arguments: [
            ("https://appleid.apple.com", nil), ("https://127.0.0.1:1/prefix/", nil),
            ("http://127.0.0.1:1", nil), ("http://[::1]:1", nil), ("http://localhost", nil),
            ("http://127.0.0.1.example.com", .plainHTTP), ("http://appleid.apple.com", .plainHTTP),
            ("http://192.168.0.1", .plainHTTP), ("ftp://appleid.apple.com", .malformedBaseURL),
            ("https://user@appleid.apple.com", .malformedBaseURL),
            ("https://appleid.apple.com/?a=b", .malformedBaseURL),
            ("https://appleid.apple.com/#a", .malformedBaseURL),
            ("https:///auth", .malformedBaseURL), ("appleid.apple.com", .malformedBaseURL),
            ("https://a.example\r\nX: y", .malformedBaseURL), ("", .malformedBaseURL),
            ("http+unix://%2Frun%2Fx.sock", .malformedBaseURL),
        ] as [(String, SetupError.Kind?)]
    )
    func baseURL(_ text: String, kind: SetupError.Kind?) {
        var settings = RemoteSettings(name: ProviderName("apple"))
        settings.allowsPlainLoopback = true
        #expect(Self.problem(text, settings) == kind)
        settings.allowsPlainLoopback = false
        #expect(Self.problem(text, settings) == (text.hasPrefix("http://") ? .plainHTTP : kind))
    }

    private static func problem(
        _ text: String,
        _ settings: RemoteSettings
    ) -> SetupError.Kind? {
        do {
            _ = try RemoteBaseURL(text, settings)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("a CA file that is missing or holds no certificate stops the set-up")
    func caFile() async {
        for file in ["/nonexistent/ca.pem", "/dev/null"] {
            var settings = AppleHarness.settings("https://127.0.0.1:1")
            settings.http.caFile = file
            let error = await #expect(throws: SetupError.self) {
                try await AppleHarness.with(settings) { _ in }
            }
            #expect(error?.kind == .unreadableCAFile)
            #expect(
                error?.description == "cannot set up provider at 'apple' (unreadable_ca_file):"
                    + " ca_file cannot be read or holds no certificate"
            )
        }
    }
}
