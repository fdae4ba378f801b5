import Engine
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Microsoft Graph")
struct MicrosoftGraphTests {
    typealias Harness = MicrosoftHarness

    /// A tenant's state and the verdict that it may lead to.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout Harness.Graph) -> Void
        let answer: RevokeAnswer

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "a grant and an assignment", change: { _ in }, answer: .success),
        Case(
            name: "nothing listed",
            change: {
                $0.grants = Harness.list([])
                $0.assignments = Harness.list([])
            },
            answer: .alreadyInvalid
        ),
        Case(
            name: "listed, but gone",
            change: { $0.delete = Harness.missing },
            answer: .alreadyInvalid
        ),
        Case(
            name: "granted to all",
            change: {
                $0.tenantGrants = Harness.list([
                    Harness.grant("all", type: "AllPrincipals", user: nil)
                ])
            },
            answer: .userOnly
        ),
        Case(
            name: "no application there",
            change: { $0.found = Harness.missing },
            answer: .alreadyInvalid
        ),
        Case(
            name: "user gone, grant left",
            change: { $0.assignments = Harness.missing },
            answer: .success
        ),
        Case(
            name: "no permission",
            change: {
                $0.grants = Harness.graphError("Authorization_RequestDenied", status: 403)
            },
            answer: refused(403, "Authorization_RequestDenied")
        ),
        Case(
            name: "other 403",
            change: { $0.grants = Harness.graphError("Forbidden", status: 403) },
            answer: refused(403, "Forbidden")
        ),
        Case(
            name: "whatever the list is asked",
            change: { $0.grants = Harness.graphError("Request_BadRequest", status: 400) },
            answer: refused(400, "Request_BadRequest")
        ),
        Case(
            name: "the application is not to be found out",
            change: { $0.found = Harness.graphError("Request_BadRequest", status: 400) },
            answer: refused(400, "Request_BadRequest")
        ),
        Case(
            name: "throttled",
            change: { $0.delete = .http(429, ["Retry-After: 10"]) },
            answer: .failure(.throttled(retryAfter: .seconds(10)))
        ),
        Case(
            name: "more than one page",
            change: { $0.grants = .json(200, #"{"value":[],"@odata.nextLink":"https://x"}"#) },
            answer: .failure(.unusable)
        ),
        Case(
            name: "deleted with a body",
            change: { $0.delete = .json(200, "{}") },
            answer: .failure(.unusable)
        ),
        Case(
            name: "404 without a body",
            change: { $0.grants = .http(404) },
            answer: .failure(.unusable)
        ),
        Case(
            name: "wrong client secret",
            change: { $0.token = .json(401, #"{"error":"invalid_client"}"#) },
            answer: refused(401, "invalid_client")
        ),
    ]

    private static func refused(_ status: Int, _ error: String) -> RevokeAnswer {
        .failure(.refusesAll(Refusal(status: status, error: error, client: Harness.tenant)))
    }

    @Test("only what Graph deleted counts as revoked", arguments: cases)
    func verdict(_ item: Case) async throws {
        var graph = Harness.Graph()
        item.change(&graph)
        let react = graph.react
        try await Harness.with(react: react) { provider, _ in
            #expect(await provider.revoke(Harness.credential()) == item.answer)
        }
    }

    @Test("only this user's grants and assignments of this application are deleted")
    func scope() async throws {
        var graph = Harness.Graph()
        graph.grants = Harness.list([
            Harness.grant("mine"), Harness.grant("theirs", user: Harness.other),
            Harness.grant("all", type: "AllPrincipals"),
            Harness.grant("foreign", client: Harness.other),
        ])
        graph.assignments = Harness.list([
            Harness.assignment("own-role"),
            Harness.assignment("other-role", resource: Harness.other),
        ])
        let react = graph.react
        try await Harness.with(react: react) { provider, server in
            #expect(await provider.revoke(Harness.credential()) == .success)
            let deleted = server.requests.map(FamilyHarness.line).filter {
                $0.hasPrefix("DELETE")
            }
            #expect(
                deleted == [
                    "DELETE /v1.0/oauth2PermissionGrants/mine HTTP/1.1",
                    "DELETE /v1.0/servicePrincipals/\(Harness.principal)/appRoleAssignedTo/own-role"
                        + " HTTP/1.1",
                ]
            )
            #expect(
                server.requests.first.map(FamilyHarness.line)
                    == "POST /\(Harness.tenant)/oauth2/v2.0/token HTTP/1.1"
            )
            #expect(!server.requests.contains { $0.contains("canary-token") })
        }
    }

    @Test("sessions are ended only where that is opted in")
    func sessions() async throws {
        let react = Harness.Graph().react
        for isOn in [false, true] {
            try await Harness.with(revokesSessions: isOn, react: react) {
                provider,
                server in
                #expect(await provider.revoke(Harness.credential()) == .success)
                let asked = server.requests.contains { $0.contains("revokeSignInSessions") }
                #expect(asked == isOn)
            }
        }
    }

    @Test func `a user that is gone has no sessions left to end`() async throws {
        var graph = Harness.Graph()
        graph.sessions = Harness.missing
        let react = graph.react
        try await Harness.with(revokesSessions: true, react: react) { provider, _ in
            #expect(await provider.revoke(Harness.credential()) == .success)
        }
    }

    /// How Graph refuses.
    static let refusals = [
        Refusal(status: 403, error: "Authorization_RequestDenied"),
        Refusal(status: 400, error: "Request_BadRequest"),
        Refusal(status: 409, error: "Request_MultipleObjectsWithSameKeyValue"),
        Refusal(status: 422, error: "Request_UnprocessableEntity"),
    ]

    @Test(
        "what Graph refuses for one user alone is no refusal of the directory",
        arguments: [
            "%20and%20principalId%20eq%20%27", "/oauth2PermissionGrants/grant-1",
            "/users/\(Harness.user)/appRoleAssignments",
            "/appRoleAssignedTo/assignment-1", "/users/\(Harness.user)/revokeSignInSessions",
        ],
        refusals
    )
    func refusedUser(_ call: String, _ refusal: Refusal) async throws {
        let graph = Harness.Graph()
        let error = try #require(refusal.error)
        let status = try #require(refusal.status)
        let react: @Sendable (String) -> RawServer.Reaction = { request in
            let line = FamilyHarness.line(request)
            guard line.contains(call) else { return graph.react(request) }
            return line.contains("00000000-0000-0000-0000-000000000000")
                ? Harness.missing : Harness.graphError(error, status: status)
        }
        try await Harness.with(revokesSessions: true, react: react) { provider, _ in
            let answer = await provider.revoke(Harness.credential())
            #expect(answer == .failure(.refused(refusal)))
            #expect(provider.refusedClients.isEmpty)
        }
    }

    @Test("the application's token is kept, and dropped when Graph refuses it")
    func applicationToken() async throws {
        let react = Harness.Graph().react
        try await Harness.with(react: react) { provider, server in
            _ = await provider.revoke(Harness.credential())
            _ = await provider.revoke(Harness.credential())
            #expect(server.requests.filter { $0.contains("client_credentials") }.count == 1)
        }
        var refusing = Harness.Graph()
        refusing.found = Harness.graphError("InvalidAuthenticationToken", status: 401)
        let refused = refusing.react
        try await Harness.with(react: refused) { provider, server in
            for _ in 1...2 {
                #expect(await provider.revoke(Harness.credential()) == .failure(.unusable))
            }
            #expect(server.requests.filter { $0.contains("client_credentials") }.count == 2)
        }
    }

    @Test(
        "where nothing can be revoked, nothing is asked",
        arguments: [
            (Harness.personal, RevokeAnswer.userOnly),
            ("\(Harness.user).\(Harness.other)", .userOnly),
            (Harness.user, .unfit),
            ("\(Harness.user).common", .unfit),
            ("\(Harness.work).x", .unfit),
        ]
    )
    func notThere(_ subject: String, _ answer: RevokeAnswer) async throws {
        try await Harness.with(answering: .http(200)) { provider, server in
            #expect(await provider.revoke(Harness.credential(subject: subject)) == answer)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("an id token names the user where the subject is not known")
    func idToken() async throws {
        let react = Harness.Graph().react
        let token = try IDTokenGenerator.token(
            claims: IDTokenGenerator.claims([
                "aud": #""\#(Harness.client)""#, "oid": #""\#(Harness.user)""#,
                "tid": #""\#(Harness.tenant)""#,
            ])
        )
        try await Harness.with(react: react) { provider, _ in
            let credential = Harness.credential(.idToken, token, subject: nil)
            #expect(await provider.revoke(credential) == .success)
        }
    }
}
