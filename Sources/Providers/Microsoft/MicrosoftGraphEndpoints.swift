import NIOHTTP1

/// The addresses of Microsoft Graph v1.0, and where the application gets its token for it.
struct MicrosoftGraphEndpoints: Sendable {
    let token: ProviderEndpoint
    let principal: ProviderEndpoint
    let grants: ProviderEndpoint
    let grant: ProviderEndpoint
    let assignments: ProviderEndpoint
    let assignment: ProviderEndpoint
    let sessions: ProviderEndpoint
    private let login: ProviderBaseURL

    /// - Throws: ``ProviderError`` of kind `malformedBaseURL`.
    init(login: ProviderBaseURL, graph: ProviderBaseURL) throws(ProviderError) {
        self.login = login
        func at(_ path: String, _ method: HTTPMethod) throws(ProviderError) -> ProviderEndpoint {
            try ProviderEndpoint(graph, path: "/v1.0" + path, method: method)
        }
        token = try ProviderEndpoint(login, path: "/{}/oauth2/v2.0/token", method: .POST)
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
