import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("The admin APIs of OAuth 2")
struct OAuth2AdminTests {
    private static let admin = ["authorization": "Bearer admin-token"]
    private static let consents = "/oauth2/admin/oauth2/auth/sessions/consent"
    private static let users = "/oauth2/admin/realms/app/users"

    private static func signIn(_ fixture: SandboxFixture) throws -> String {
        try fixture.sandbox.signIn(SandboxOrder.SignIn(user: "alice"), at: .oauth2).subject
    }

    private static func body(
        _ fixture: SandboxFixture,
        _ method: HTTPMethod,
        _ path: String
    ) async throws -> String {
        let answer = try await fixture.send(method, path, headers: admin)
        return "\(answer.status) \(answer.body)"
    }

    @Test("Hydra lists and ends consents by subject, and knows no other users")
    func hydra() async throws {
        try await SandboxFixture.with { fixture in
            let query = "?subject=\(try Self.signIn(fixture))"
            let listed = #"200 [{"consent_request":{"client":{"client_id":"app"}}}]"#
            #expect(try await Self.body(fixture, .GET, Self.consents + query) == listed)
            let end = Self.consents + query + "&client="
            #expect(try await Self.body(fixture, .DELETE, end + "other") == "204 ")
            #expect(try await Self.body(fixture, .GET, Self.consents + query) == listed)
            #expect(try await Self.body(fixture, .DELETE, end + "app") == "204 ")
            #expect(try await Self.body(fixture, .GET, Self.consents + query) == "200 []")
            #expect(try await Self.body(fixture, .GET, Self.consents + "?subject=x") == "200 []")
        }
    }

    @Test("Keycloak says 404 for a user or a consent that it does not have")
    func keycloak() async throws {
        try await SandboxFixture.with { fixture in
            let user = "\(Self.users)/\(try Self.signIn(fixture))"
            let listed = #"200 [{"clientId":"app","clients":{"0":"app"}}]"#
            #expect(try await Self.body(fixture, .GET, user + "/consents") == listed)
            #expect(try await Self.body(fixture, .DELETE, user + "/consents/app") == "204 ")
            let none = #"404 {"error":"Consent nor offline token not found"}"#
            #expect(try await Self.body(fixture, .DELETE, user + "/consents/app") == none)
            #expect(try await Self.body(fixture, .POST, user + "/logout") == "204 ")
            #expect(try await Self.body(fixture, .GET, user + "/sessions") == "200 []")
            let unknown = #"404 {"error":"User not found"}"#
            #expect(try await Self.body(fixture, .GET, Self.users + "/x/consents") == unknown)
        }
    }

    @Test("without the admin token nothing is listed and nothing ends")
    func unauthorized() async throws {
        try await SandboxFixture.with { fixture in
            let user = try Self.signIn(fixture)
            for (method, path) in [
                (HTTPMethod.GET, "\(Self.consents)?subject=\(user)"),
                (.DELETE, "\(Self.consents)?subject=\(user)&client=app"),
                (.POST, "\(Self.users)/\(user)/logout"),
            ] {
                #expect(try await fixture.send(method, path).status == 401)
            }
            let listed = try await Self.body(fixture, .GET, "\(Self.consents)?subject=\(user)")
            #expect(listed.contains("app"))
        }
    }
}
