import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("What an issuer's metadata may do")
struct DiscoveryTests {
    static func document(_ issuer: String, revocation: String) -> String {
        #"{"issuer":"\#(issuer)","revocation_endpoint":"\#(revocation)"}"#
    }

    /// Revokes at an issuer whose document names `revocation`; returns the answer and whether the
    /// token was seen.
    static func revoke(
        hosts: [String] = [],
        issuer wrong: String? = nil,
        naming revocation: @escaping @Sendable (Int) -> String
    ) async throws -> (RevokeAnswer, Bool) {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            guard request.hasPrefix("GET /.well-known/openid-configuration"),
                let port = request.split(separator: "host: 127.0.0.1:").last?
                    .prefix(while: \.isNumber), let number = Int(port)
            else { return request.hasPrefix("GET") ? .http(404) : .http(200) }
            let issuer = wrong ?? "http://127.0.0.1:\(number)"
            return Golden.text(Self.document(issuer, revocation: revocation(number)))
        }
        return try await RawServer.with(react: react) { server in
            var settings = OAuth2Harness.settings()
            settings.profile.issuer = "http://127.0.0.1:\(server.port)"
            settings.profile.endpointHosts = hosts
            let answer = try await OAuth2Harness.with(settings) { provider in
                await provider.revoke(OAuth2Harness.credential(.refreshToken))
            }
            return (answer, server.requests.contains { $0.contains("t0ken") })
        }
    }

    @Test("it names the endpoints at the issuer's own host")
    func ownHost() async throws {
        let (answer, wasSeen) = try await Self.revoke { "http://127.0.0.1:\($0)/revoke/" }
        #expect(answer == .success)
        #expect(wasSeen)
    }

    @Test(
        "it leads no token to a stranger, a private address or another port",
        arguments: [
            "https://evil.example/revoke", "https://10.0.0.1/revoke",
            "https://169.254.169.254/revoke", "https://[::1]/revoke", "https://localhost/revoke",
            "http://127.0.0.1:9/revoke", "http://127.0.0.1/revoke", "https://127.0.0.1:1@evil/",
            "file:///etc/passwd", "http://evil.example/revoke", "",
        ]
    )
    func otherHosts(_ url: String) async throws {
        let (answer, wasSeen) = try await Self.revoke { _ in url }
        #expect(answer == .failure(.misconfigured))
        #expect(!wasSeen)
    }

    @Test("a host that the operator lists is taken, even so only where a token may go at all")
    func listedHosts() async throws {
        try await RawServer.with(answering: .http(200)) { other in
            let authority = "127.0.0.1:\(other.port)"
            let url = "http://\(authority)/revoke"
            let (answer, _) = try await Self.revoke(hosts: [authority]) { _ in url }
            #expect(answer == .success)
            #expect(other.requests.count == 1)
        }
        let (answer, _) = try await Self.revoke(hosts: ["plain.example:80", "plain.example"]) { _ in
            "http://plain.example/revoke"
        }
        #expect(answer == .failure(.misconfigured))
    }

    @Test("a document of another issuer is none", arguments: ["https://a.example", ""])
    func otherIssuer(_ issuer: String) async throws {
        let (answer, wasSeen) = try await Self.revoke(issuer: issuer) {
            "http://127.0.0.1:\($0)/revoke"
        }
        #expect(answer == .failure(.unreachable))
        #expect(!wasSeen)
    }

    @Test("the metadata is read once a day, not once a call")
    func cached() async throws {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            let port = request.split(separator: "127.0.0.1:").last?.prefix(while: \.isNumber) ?? ""
            let issuer = "http://127.0.0.1:\(port)"
            return request.hasPrefix("GET")
                ? Golden.text(Self.document(issuer, revocation: issuer + "/revoke")) : .http(200)
        }
        try await RawServer.with(react: react) { server in
            var settings = OAuth2Harness.settings()
            settings.profile.issuer = "http://127.0.0.1:\(server.port)"
            let time = ManualTime()
            try await OAuth2Harness.with(settings, now: { time.now }) { provider in
                for _ in 0..<3 {
                    let token = OAuth2Harness.credential(.refreshToken)
                    #expect(await provider.revoke(token) == .success)
                }
                #expect(server.requests.filter { $0.hasPrefix("GET") }.count == 1)
                time.advance(by: .seconds(86_401))
                _ = await provider.revoke(OAuth2Harness.credential(.refreshToken))
                #expect(server.requests.filter { $0.hasPrefix("GET") }.count == 2)
            }
        }
    }
}
