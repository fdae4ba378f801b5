import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("A check of endpoints that cannot be reached")
struct UnreachableEndpointTests {
    private static func problem(
        check: OAuth2Check? = nil,
        _ change: @Sendable (inout OAuth2Setup) -> Void
    ) async throws -> ProviderProblem? {
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            request.hasPrefix("POST /token") ? Golden.error("invalid_grant") : .http(200)
        }
        return try await RawServer.with(react: react) { server in
            var settings = OAuth2Harness.at(server, .standard, check: check)
            change(&settings)
            return try await OAuth2Harness.with(settings) { await $0.problem() }
        }
    }

    @Test("each endpoint that would be asked is tried", arguments: ["token", "revocation"])
    func closedPort(_ role: String) async throws {
        #expect(try await Self.problem { _ in } == nil)
        let closed = "http://127.0.0.1:1/x"
        let problem = try await Self.problem { settings in
            let isToken = role == "token"
            if isToken {
                settings.profile.tokenURL = closed
            } else {
                settings.profile.revocationURL = closed
            }
        }
        #expect(problem?.failure == .unreachable)
        #expect(
            problem?.finding
                == "unreachable: the \(role) endpoint \(closed): host '127.0.0.1':"
                + " connection refused at port 1; check \(role)_url"
        )
    }

    @Test("introspection is tried where it is the check, and only there")
    func introspection() async throws {
        let change: @Sendable (inout OAuth2Setup) -> Void = {
            $0.profile.introspectionURL = "http://127.0.0.1:1/x"
        }
        #expect(try await Self.problem(check: .refresh, change) == nil)
        let problem = try await Self.problem(check: .introspection, change)
        #expect(problem?.text.contains("introspection endpoint http://127.0.0.1:1/x") ?? false)
    }

    @Test("a host without an address is named")
    func unknownHost() async throws {
        let problem = try await Self.problem {
            $0.profile.revocationURL = "https://nosuch.invalid/revoke"
        }
        #expect(
            problem?.text
                == "the revocation endpoint https://nosuch.invalid/revoke: host 'nosuch.invalid':"
                + " the name cannot be resolved; check revocation_url"
        )
    }
}
