import Engine
import Lifecycle
import Vault

@testable import HTTP
@testable import Providers

/// One application, two tenants, one user.
enum MicrosoftHarness {
    static let client = "6731de76-14a6-49ae-97bc-6eba6914391e"
    static let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
    static let other = "bbbbcccc-1111-dddd-2222-eeee3333ffff"
    static let user = "00aa00aa-bb11-cc22-dd33-44ee44ee44ee"
    static let principal = "11112222-3333-4444-5555-666677778888"
    static let work = "\(user).\(tenant)"
    static let personal = "00000000-0000-0000-66f3-3332eca7ea81.\(MicrosoftTenant.personal)"

    static func with<Result>(
        tenant text: String = "common",
        proof: MicrosoftClient.Proof = .secret(Secret("client-secret")),
        graphTenants: [String] = [tenant.uppercased()],
        revokesSessions: Bool = false,
        react: @escaping @Sendable (String) -> RawServer.Reaction,
        body: (MicrosoftProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        try await RawServer.with(react: react) { server in
            let provider = try MicrosoftProvider(
                MicrosoftKind(
                    tenant: text,
                    proof: .secret(credential: ""),
                    graphTenants: graphTenants,
                    revokesSessions: revokesSessions,
                    baseURL: FamilyHarness.url(server),
                    graphURL: FamilyHarness.url(server)
                ),
                http: FamilyHarness.http("microsoft"),
                client: MicrosoftClient(clientID: client, proof: proof, makeNonce: { "nonce" }),
                in: FamilyHarness.environment()
            )
            do {
                let result = try await body(provider, server)
                await provider.shutdown()
                return result
            } catch {
                await provider.shutdown()
                throw error
            }
        }
    }

    static func with<Result>(
        tenant: String = "common",
        answering reaction: RawServer.Reaction,
        body: (MicrosoftProvider, RawServer) async throws -> Result
    ) async throws -> Result {
        let react: @Sendable (String) -> RawServer.Reaction = { _ in reaction }
        return try await with(tenant: tenant, react: react, body: body)
    }

    static func credential(
        _ kind: CredentialKind = .refreshToken,
        _ secret: String = "canary-token",
        subject: String? = work,
        keeper: TokenKeeper? = nil
    ) -> OpenCredential {
        FamilyHarness.credential(
            kind,
            secret,
            client: client,
            subject: subject,
            keeper: keeper
        )
    }

    static let appToken = RawServer.Reaction.json(
        200,
        #"{"token_type":"Bearer","expires_in":3599,"access_token":"app-token"}"#
    )

    static let noContent = RawServer.Reaction.bytes(Array("HTTP/1.1 204 X\r\n\r\n".utf8))

    static let missing = graphError("Request_ResourceNotFound", status: 404)

    static func graphError(_ code: String, status: Int) -> RawServer.Reaction {
        .json(status, #"{"error":{"code":"\#(code)","message":"canary"}}"#)
    }

    static func list(_ items: [String]) -> RawServer.Reaction {
        .http(
            200,
            ["Content-Type: application/json;odata.metadata=minimal;charset=utf-8"],
            body: Array(#"{"value":[\#(items.joined(separator: ","))]}"#.utf8)
        )
    }

    static func grant(
        _ id: String,
        type: String = "Principal",
        client: String = principal,
        user: String? = user
    ) -> String {
        let owner = user.map { #""\#($0)""# } ?? "null"
        return #"{"id":"\#(id)","clientId":"\#(client)","consentType":"\#(type)","#
            + #""principalId":\#(owner),"scope":"User.Read"}"#
    }

    static func assignment(_ id: String, resource: String = principal) -> String {
        #"{"id":"\#(id)","principalId":"\#(user)","resourceId":"\#(resource)"}"#
    }

    /// Graph of one tenant, call by call.
    struct Graph: Sendable {
        var token = appToken
        var found = RawServer.Reaction.json(200, #"{"id":"\#(principal)"}"#)
        var grants = list([grant("grant-1")])
        var tenantGrants = list([])
        var assignments = list([assignment("assignment-1")])
        var delete = noContent
        var sessions = RawServer.Reaction.json(200, #"{"value":true}"#)

        func react(_ request: String) -> RawServer.Reaction {
            let line = FamilyHarness.line(request)
            if line.contains("/oauth2/v2.0/token") { return token }
            if line.hasPrefix("DELETE") { return delete }
            if line.contains("revokeSignInSessions") { return sessions }
            if line.contains("/appRoleAssignments") { return assignments }
            if line.contains("/oauth2PermissionGrants") {
                return line.contains("AllPrincipals") ? tenantGrants : grants
            }
            return found
        }
    }
}
