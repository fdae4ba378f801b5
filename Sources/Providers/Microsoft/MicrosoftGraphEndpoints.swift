import HTTP
import NIOHTTP1

/// The addresses of Microsoft Graph v1.0, and where the application gets its token for it.
struct MicrosoftGraphEndpoints: Sendable {
    let token: RemoteEndpoint
    let principal: RemoteEndpoint
    let grants: RemoteEndpoint
    let grant: RemoteEndpoint
    let assignments: RemoteEndpoint
    let assignment: RemoteEndpoint
    let sessions: RemoteEndpoint
    private let login: RemoteBaseURL

    init(login: RemoteBaseURL, graph: RemoteBaseURL) throws(SetupError) {
        self.login = login
        func at(_ path: String, _ method: HTTPMethod) throws(SetupError) -> RemoteEndpoint {
            try RemoteEndpoint(graph, path: "/v1.0" + path, method: method)
        }
        token = try RemoteEndpoint(login, path: "/{}/oauth2/v2.0/token", method: .POST)
        principal = try at("/servicePrincipals(appId='{}')", .GET)
        grants = try at("/oauth2PermissionGrants", .GET)
        grant = try at("/oauth2PermissionGrants/{}", .DELETE)
        assignments = try at("/users/{}/appRoleAssignments", .GET)
        assignment = try at("/servicePrincipals/{}/appRoleAssignedTo/{}", .DELETE)
        sessions = try at("/users/{}/revokeSignInSessions", .POST)
    }

    /// The token endpoint of a tenant, as the audience of an assertion.
    func tokenURL(of tenant: String) -> String { "\(login.text)/\(tenant)/oauth2/v2.0/token" }
}
