import Engine
import FoundationEssentials
import Glibc
import Lifecycle
import NIOSSL
import Testing

@testable import HTTP
@testable import Providers

/// Every family, every call: whatever a configured host answers, nothing but that host is spoken
/// to.
@Suite("Where a token is seen")
struct TokenReachTests {
    /// A program of the operator's own opens no connection of ours.
    static let families = SweptProvider.allCases.filter { $0 != .command }
    static let redirects = [301, 302, 303, 307, 308]
    static let proxyNames = [
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
    ]

    @Test("a redirect leads to no other host", arguments: families, redirects)
    func redirect(_ family: SweptProvider, status: Int) async throws {
        try await Self.withListener { stranger, address in
            try await Self.withHost(answering: .http(status, ["Location: \(address)/steal"])) {
                host,
                place in
                try await Self.callEverything(family, place)
                #expect(!host.requests.isEmpty)
            }
            #expect(stranger.connectionCount == 0)
        }
    }

    @Test("a proxy of the environment is not asked", arguments: families)
    func proxy(_ family: SweptProvider) async throws {
        try await Self.withListener { stranger, address in
            for name in Self.proxyNames { unsafe setenv(name, address, 1) }
            defer { for name in Self.proxyNames { unsafe unsetenv(name) } }
            try await Self.withHost(answering: .http(503)) { host, place in
                try await Self.callEverything(family, place)
                #expect(!host.requests.isEmpty)
            }
            #expect(stranger.connectionCount == 0)
        }
    }

    /// Certificates that must not do: another host's, one that ran out, one of nobody's.
    static let certificates = [
        Fixtures.otherHostCertificate, Fixtures.expiredCertificate, Fixtures.goodCertificate,
    ]

    @Test("a host that does not prove its name sees nothing", arguments: families, certificates)
    func certificate(_ family: SweptProvider, _ certificate: String) async throws {
        // The last one is good, but not of a root that is trusted here.
        let trusted =
            certificate == Fixtures.goodCertificate ? Fixtures.otherHostCertificate : certificate
        try await Self.withFile(trusted) { file in
            let tls = try Self.context(certificate)
            try await RawServer.with(tls: tls, answering: .http(200)) { server in
                let address = "https://localhost:\(server.port)"
                try await Self.callEverything(family, ProviderPlace(server: address, caFile: file))
                #expect(server.connectionCount > 0)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test(
        "metadata leads no token to another port, a private address or a stranger",
        arguments: [SweptProvider.introspection, .refresh, .blind],
        ["https://localhost:{}", "https://127.0.0.1:{}", "https://[::1]:{}", "https://10.0.0.1"]
    )
    func metadata(_ family: SweptProvider, _ pattern: String) async throws {
        try await Self.withListener { stranger, address in
            let port = address.split(separator: ":").last.map(String.init) ?? ""
            let named = pattern.replacing("{}", with: port)
            try await Self.withHost(naming: named) { host, place in
                try await Self.callEverything(family, place)
                #expect(host.requests.contains { $0.hasPrefix("GET /.well-known/") })
                #expect(!host.requests.contains { $0.contains(Self.canary) })
            }
            #expect(stranger.connectionCount == 0)
        }
    }

    @Test("the listener hears a call that is really made to it")
    func listens() async throws {
        try await Self.withListener { stranger, address in
            try await Self.withFile(Fixtures.goodCertificate) { file in
                let place = ProviderPlace(server: address, caFile: file)
                try await Self.callEverything(.xOAuth2, place)
            }
            #expect(stranger.requests.contains { $0.contains(Self.canary) })
        }
    }
}

// MARK: - What is played

extension TokenReachTests {
    static let canary = "canary-reach-5d0e7b21c4"

    /// Every call that a provider has, with every kind of credential.
    static func callEverything(_ family: SweptProvider, _ place: ProviderPlace) async throws {
        let provider = try family.make(place) { ManualTime().now }
        for kind in CredentialKind.allCases {
            var credential = OpenCredential(
                kind: kind,
                clientID: family.clientID,
                secret: Secret(family == .xOAuth1 ? "\(canary):\(canary)" : canary),
                redirectURI: "https://app.example.com/callback",
                codeVerifier: Secret(canary)
            )
            credential.subject = Secret(subject(at: family))
            credential.keeper = TokenKeeper { _ in true }
            _ = await provider.exchange(credential)
            _ = await provider.check(credential)
            _ = await provider.revoke(credential)
        }
        _ = await provider.diagnose()
        let signIn = SignIn(
            clientID: family.clientID,
            idToken: Secret(canary),
            rawNonce: Secret(canary)
        )
        await #expect(throws: SignInError.self) { try await provider.verify(signIn) }
        await provider.shutdown()
    }

    static func subject(at family: SweptProvider) -> String {
        family == .microsoft
            ? "00aa00aa-bb11-cc22-dd33-44ee44ee44ee.c0c0c0c0-0000-4000-8000-000000000001"
            : "12345678901234567"
    }

    /// Takes every connection, and answers 200 to everything.
    static func withListener(_ body: (RawServer, String) async throws -> Void) async throws {
        let tls = try context(Fixtures.goodCertificate)
        try await RawServer.with(tls: tls, answering: .http(200)) { server in
            try await body(server, "https://localhost:\(server.port)")
        }
    }

    /// The configured host; its metadata names itself unless told.
    static func withHost(
        answering reaction: RawServer.Reaction = .http(200),
        naming endpoints: String? = nil,
        _ body: (RawServer, ProviderPlace) async throws -> Void
    ) async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.hasPrefix("GET /.well-known/openid-configuration HTTP"),
                let port = request.split(separator: "host: localhost:").last?
                    .prefix(while: \.isNumber)
            else { return reaction }
            let issuer = "https://localhost:\(port)"
            let base = endpoints ?? issuer
            let members = ["token", "revocation", "introspection"].map {
                #""\#($0)_endpoint":"\#(base)/\#($0)""#
            }
            let text = #"{"issuer":"\#(issuer)",\#(members.joined(separator: ","))}"#
            return .json(200, text)
        }
        try await withFile(Fixtures.goodCertificate) { file in
            let tls = try context(Fixtures.goodCertificate)
            try await RawServer.with(tls: tls, react: react) { server in
                let place = ProviderPlace(
                    server: "https://localhost:\(server.port)",
                    caFile: file
                )
                try await body(server, place)
            }
        }
    }

    static func context(_ certificate: String) throws -> NIOSSLContext {
        try TLSCase(name: "", certificate: certificate, answer: .success).serverContext()
    }

    static func withFile(_ text: String, _ body: (String) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "expunged-\(UUID().uuidString).pem"
        )
        try Data(text.utf8).write(to: file)
        do {
            try await body(file.path)
        } catch {
            try FileManager.default.removeItem(at: file)
            throw error
        }
        try FileManager.default.removeItem(at: file)
    }
}
