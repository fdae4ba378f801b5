import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

@Suite("Microsoft Graph")
struct MicrosoftGraphTests {
    private static let clientID = MicrosoftTokenTests.clientID
    private static let contoso = MicrosoftTokenTests.contoso

    private struct Row: Decodable {
        let id: String
        let clientId: String?
        let consentType: String?
        let principalId: String?
        let resourceId: String?
    }

    private func appToken(
        _ fixture: SandboxFixture,
        tenant: String = contoso
    ) async throws -> SandboxFixture.Answer {
        let form = ["grant_type": "client_credentials"]
        let scope = ["scope": "https://graph.microsoft.com/.default"]
        return try await fixture.post(
            "/microsoft/\(tenant)/oauth2/v2.0/token",
            MicrosoftTokenTests.client.merging(form) { $1 }.merging(scope) { $1 }
        )
    }

    private func graph(
        _ fixture: SandboxFixture,
        _ method: HTTPMethod,
        _ path: String,
        token: String? = nil
    ) async throws -> SandboxFixture.Answer {
        let bearer =
            if let token { token } else { try await appToken(fixture).text("access_token") }
        return try await fixture.send(
            method,
            "/microsoft/v1.0/\(path)",
            headers: ["authorization": "Bearer \(bearer)"]
        )
    }

    private func rows(_ answer: SandboxFixture.Answer) throws -> [Row] {
        struct List: Decodable {
            let value: [Row]
        }
        #expect(answer.status == 200)
        return try JSONDecoder().decode(List.self, from: Data(answer.body.utf8)).value
    }

    private func grants(
        _ fixture: SandboxFixture,
        _ filter: [(String, String)]
    ) async throws -> [Row] {
        let text = filter.map { "\($0) eq '\($1)'" }.joined(separator: " and ")
        let query = SandboxFixture.encoded(["$filter": text])
        return try rows(await graph(fixture, .GET, "oauth2PermissionGrants?\(query)"))
    }

    private func refresh(_ fixture: SandboxFixture, _ token: SandboxToken) async throws -> String {
        let form = ["grant_type": "refresh_token", "refresh_token": token.refreshToken ?? ""]
        let answer = try await fixture.post(
            "/microsoft/common/oauth2/v2.0/token",
            MicrosoftTokenTests.client.merging(form) { $1 }
        )
        guard answer.status != 200 else { return "200" }
        return String(try answer.text("error_description").prefix { $0 != ":" })
    }

    private var objectID: String { MicrosoftIDs.objectID(of: "user-1", in: Self.contoso) }

    @Test("a client gets a token for itself only in a tenant that consented")
    func clientCredentials() async throws {
        try await SandboxFixture.with { fixture in
            #expect(try await appToken(fixture).status == 200)
            for (tenant, number) in [("fabrikam.example", "700016"), ("common", "50059")] {
                let answer = try await appToken(fixture, tenant: tenant)
                #expect(answer.status == 400)
                #expect(try answer.text("error_description").hasPrefix("AADSTS\(number):"))
            }
        }
    }

    @Test("the deletion of a grant stops refreshing, the access token lives out its hour")
    func deleteGrant() async throws {
        try await SandboxFixture.with { fixture in
            let token = try fixture.sandbox.issueTokens(at: .microsoft)[0]
            let query = SandboxFixture.encoded(["$filter": "appId eq '\(Self.clientID)'"])
            let path = "servicePrincipals?\(query)"
            let principal = try rows(await graph(fixture, .GET, path))[0].id
            let found = try await grants(
                fixture,
                [("clientId", principal), ("principalId", objectID)]
            )
            #expect(found.count == 1)
            #expect(found[0].consentType == "Principal")
            let deletion = "oauth2PermissionGrants/\(found[0].id)"
            #expect(try await graph(fixture, .DELETE, deletion).status == 204)
            #expect(try await refresh(fixture, token) == "AADSTS65001")
            #expect(try await grants(fixture, [("principalId", objectID)]).isEmpty)
            let me = try await graph(fixture, .GET, "me", token: token.accessToken)
            #expect(me.status == 200)
            let again = try await graph(fixture, .DELETE, deletion)
            #expect(again.status == 404)
            #expect(again.body.contains("Request_ResourceNotFound"))
        }
    }

    @Test("a deleted grant is still listed for the lag")
    func lag() async throws {
        try await SandboxFixture.with { configuration in
            configuration.microsoft.listingLagSeconds = 60
        } body: { fixture in
            _ = try fixture.sandbox.issueTokens(at: .microsoft)
            let found = try await grants(fixture, [("principalId", objectID)])
            let deletion = "oauth2PermissionGrants/\(found[0].id)"
            #expect(try await graph(fixture, .DELETE, deletion).status == 204)
            #expect(try await grants(fixture, [("principalId", objectID)]).count == 1)
            fixture.sandbox.setClockOffset(.seconds(61))
            #expect(try await grants(fixture, [("principalId", objectID)]).isEmpty)
        }
    }

    @Test("a grant for everybody covers a user whose own grant is gone, and is listed with him")
    func tenantWideGrant() async throws {
        try await SandboxFixture.with { configuration in
            configuration.microsoft.tenants[0].hasTenantWideGrant = true
        } body: { fixture in
            let token = try fixture.sandbox.issueTokens(at: .microsoft)[0]
            let principal = MicrosoftIDs.servicePrincipal(of: Self.clientID, in: Self.contoso)
            let all = try await grants(fixture, [("clientId", principal)])
            #expect(all.map(\.consentType) == ["AllPrincipals", "Principal"])
            #expect(all[0].principalId == nil)
            let own = "oauth2PermissionGrants/\(all[1].id)"
            #expect(try await graph(fixture, .DELETE, own).status == 204)
            #expect(try await refresh(fixture, token) == "200")
            let everybody = "oauth2PermissionGrants/\(all[0].id)"
            #expect(try await graph(fixture, .DELETE, everybody).status == 204)
            #expect(try await refresh(fixture, token) == "AADSTS65001")
        }
    }

    @Test("revokeSignInSessions ends the refresh tokens of every client, by id or by name")
    func revokeSessions() async throws {
        for name in [objectID, "user-1@contoso.example"] {
            try await SandboxFixture.with { configuration in
                configuration.microsoft.clients.append(ClientRegistration("other", secret: "s"))
            } body: { fixture in
                let token = try fixture.sandbox.issueTokens(at: .microsoft)[0]
                var order = SandboxOrder.Tokens()
                order.clientID = "other"
                let other = try fixture.sandbox.issueTokens(order, at: .microsoft)[0]
                let path = "users/\(name)/revokeSignInSessions"
                let answer = try await graph(fixture, .POST, path)
                #expect(answer.status == 200)
                #expect(answer.body.contains(#""value":true"#))
                #expect(try await refresh(fixture, token) == "AADSTS50173")
                let form = [
                    "grant_type": "refresh_token", "client_id": "other", "client_secret": "s",
                    "refresh_token": other.refreshToken ?? "",
                ]
                let elsewhere = try await fixture.post(
                    "/microsoft/common/oauth2/v2.0/token",
                    form
                )
                #expect(elsewhere.status == 400)
                // The grant stands, and a new sign-in works.
                let states = fixture.sandbox.grants(at: .microsoft).map(\.state)
                #expect(states == [.live, .live])
                let fresh = try fixture.sandbox.issueTokens(at: .microsoft)[0]
                #expect(try await refresh(fixture, fresh) == "200")
            }
        }
    }

    @Test("an app role assignment is found and deleted once, by either path")
    func appRoles() async throws {
        for isByUser in [true, false] {
            try await SandboxFixture.with { fixture in
                _ = try fixture.sandbox.issueTokens(at: .microsoft)
                let list = "users/\(objectID)/appRoleAssignments"
                let found = try rows(await graph(fixture, .GET, list))
                #expect(found.count == 1)
                let principal = try #require(found[0].resourceId)
                let path =
                    isByUser
                    ? "\(list)/\(found[0].id)"
                    : "servicePrincipals/\(principal)/appRoleAssignedTo/\(found[0].id)"
                #expect(try await graph(fixture, .DELETE, path).status == 204)
                #expect(try await graph(fixture, .DELETE, path).status == 404)
                #expect(try rows(await graph(fixture, .GET, list)).isEmpty)
            }
        }
    }

    @Test("without token 401, without role 403, personal users and odd filters are not served")
    func refusals() async throws {
        try await SandboxFixture.with { configuration in
            configuration.microsoft.tenants[0].roles = ["Directory.Read.All"]
        } body: { fixture in
            var order = SandboxOrder.Tokens()
            order.realm = "consumers"
            let personal = try fixture.sandbox.issueTokens(order, at: .microsoft)[0]
            _ = try fixture.sandbox.issueTokens(at: .microsoft)
            let revoke = "users/\(objectID)/revokeSignInSessions"
            for (method, path, token, status, code) in [
                (HTTPMethod.POST, revoke, "garbage", 401, "InvalidAuthenticationToken"),
                (.POST, revoke, nil, 403, "Authorization_RequestDenied"),
                (.DELETE, "oauth2PermissionGrants/x", nil, 403, "Authorization_RequestDenied"),
                (.GET, "users/nobody", nil, 404, "Request_ResourceNotFound"),
                (
                    .GET, "oauth2PermissionGrants?$filter=scope%20eq%20'x'", nil, 400,
                    "Request_UnsupportedQuery"
                ),
                (
                    .POST, "me/revokeSignInSessions", personal.accessToken, 403,
                    "Authorization_RequestDenied"
                ),
            ] as [(HTTPMethod, String, String?, UInt, String)] {
                let answer = try await graph(fixture, method, path, token: token)
                #expect(answer.status == status)
                #expect(answer.body.contains(code))
            }
        }
    }

    @Test("a user may end the own sessions with a token of the right scope")
    func ownSessions() async throws {
        try await SandboxFixture.with { fixture in
            for (scope, status) in [
                ("offline_access User.Read", UInt(403)),
                ("offline_access User.RevokeSessions.All", 200),
            ] {
                var order = SandboxOrder.Tokens()
                order.scope = scope
                let token = try fixture.sandbox.issueTokens(order, at: .microsoft)[0]
                let answer = try await graph(
                    fixture,
                    .POST,
                    "me/revokeSignInSessions",
                    token: token.accessToken
                )
                #expect(answer.status == status)
                #expect(
                    try await refresh(fixture, token) == (status == 200 ? "AADSTS50173" : "200")
                )
            }
        }
    }
}
