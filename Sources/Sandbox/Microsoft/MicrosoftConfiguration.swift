/// How the sandbox plays Microsoft.
package struct MicrosoftConfiguration: Sendable {
    /// An organization of Microsoft Entra ID.
    package struct Tenant: Codable, Equatable, Sendable {
        package var id: String
        package var domain: String
        /// What its administrators let every client do at Graph; empty means no consent at all.
        package var roles: [String]
        /// Whether an administrator consented for all users too (`AllPrincipals`).
        package var hasTenantWideGrant: Bool

        package init(
            id: String,
            domain: String,
            roles: [String] = [],
            hasTenantWideGrant: Bool = false
        ) {
            self.id = id
            self.domain = domain
            self.roles = roles
            self.hasTenantWideGrant = hasTenantWideGrant
        }

        private enum CodingKeys: String, CodingKey {
            case id
            case domain
            case roles
            case hasTenantWideGrant = "has_tenant_wide_grant"
        }
    }

    /// The permissions that the deletions at Graph need.
    package static let roles = [
        "User.RevokeSessions.All", "Directory.Read.All", "DelegatedPermissionGrant.ReadWrite.All",
        "AppRoleAssignment.ReadWrite.All",
    ]

    package var clients = [
        ClientRegistration("11111111-2222-4333-8444-555555555555", secret: "microsoft-secret")
    ]
    /// The tenants at the start; the first is where users are who name none.
    package var tenants = [
        Tenant(
            id: "c0c0c0c0-0000-4000-8000-000000000001",
            domain: "contoso.example",
            roles: Self.roles
        ),
        Tenant(id: "fabfabfa-0000-4000-8000-000000000002", domain: "fabrikam.example"),
    ]
    /// How long a deleted grant is still listed: Graph's replication lag.
    package var listingLagSeconds: Int64 = 0

    package init() {}
}
