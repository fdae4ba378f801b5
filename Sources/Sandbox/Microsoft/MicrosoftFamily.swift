import Cryptography
import Encoding

/// How the sandbox plays Microsoft.
package struct MicrosoftConfiguration: Sendable {
    /// An organization of Microsoft Entra ID.
    package struct Tenant: Equatable, Sendable {
        package var id: String
        package var domain: String
        /// What its administrators let every client do at Graph; empty means no consent at all.
        package var roles: [String] = []
        /// Whether an administrator consented for all users too (`AllPrincipals`).
        package var hasTenantWideGrant = false
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

/// Plays `login.microsoftonline.com/{tenant}` and `graph.microsoft.com/v1.0`.
///
/// Sources: MicrosoftDocs/entra-docs ("authorization code flow", "refresh tokens", "certificate
/// credentials", "ID token claims reference") and microsoft-graph-docs-contrib (`user:
/// revokeSignInSessions`, `oAuth2PermissionGrant`, `appRoleAssignment`).
final class MicrosoftFamily: GrantFamily {
    /// What the issuer and the audience of assertions are called, wherever the sandbox is.
    static let authority = "https://login.microsoftonline.com"
    /// Ninety days without use.
    static let refreshIdleSeconds: Int64 = 90 * 86_400

    let service: GrantService<MicrosoftState>
    let configuration: MicrosoftConfiguration
    let defaultScope = "openid profile offline_access User.Read"

    init(_ configuration: MicrosoftConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        service = try GrantService(
            .microsoft,
            tools,
            configuration.clients,
            MicrosoftState(configuration, capacity: tools.capacity)
        )
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        guard let parts = parts(path), parts.count >= 2 else { return nil }
        let tenant = parts[0]
        if tenant == "v1.0" {
            return FamilyRoute(method == "GET" ? .check : .revoke) { call throws(FamilyRefusal) in
                try self.answerGraph(call, parts[1...].map(ParsedForm.decoded))
            }
        }
        return switch (method, Array(parts[1...])) {
        case ("POST", ["oauth2", "v2.0", "token"]):
            FamilyRoute(.token) { call throws(FamilyRefusal) in try self.answerToken(call, tenant) }
        case ("GET", ["discovery", "v2.0", "keys"]): FamilyRoute(.keys, handKeys)
        case ("GET", ["v2.0", ".well-known", "openid-configuration"]):
            FamilyRoute(.discovery) { call throws(FamilyRefusal) in
                try self.answerDiscovery(call, tenant)
            }
        default: nil
        }
    }

    func grantKey(
        user: String,
        client: RegisteredClient,
        realm: String?
    ) throws(SandboxError) -> GrantBook.Key {
        let tenantID: String?
        switch realm {
        case nil: tenantID = configuration.tenants.first?.id
        case "consumers": tenantID = MicrosoftIDs.personalTenant
        case let name?:
            tenantID = configuration.tenants.first { $0.id == name || $0.domain == name }?.id
        }
        guard let tenantID else {
            throw SandboxError(.badRequest, cannot: "find tenant", at: "realm")
        }
        return GrantBook.Key(user: user, audience: MicrosoftIDs.audience(tenantID, client.id))
    }

    func subject(of key: GrantBook.Key) -> String { MicrosoftIDs(key).subject }

    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        TokenRules(
            accessPrefix: "EwB.",
            accessLifetimeSeconds: 3599,
            refreshPrefix: ticket.has(scope: "offline_access") ? "0.A" : nil,
            refreshLifetimeSeconds: Self.refreshIdleSeconds
        )
    }

    func idToken(_ order: IDTokenOrder) throws -> String? {
        let ticket = order.ticket
        guard ticket.has(scope: "openid") else { return nil }
        let ids = MicrosoftIDs(ticket.grant)
        let domain =
            configuration.tenants.first { $0.id == ids.tenantID }?.domain ?? "outlook.example"
        return try signingKeys.sign([
            "ver": "2.0", "iss": .string("\(Self.authority)/\(ids.tenantID)/v2.0"),
            "aud": .string(ticket.clientID), "sub": .string(order.subject),
            "oid": .string(ids.objectID), "tid": .string(ids.tenantID),
            "nonce": JSONValue(ticket.nonce),
            "preferred_username": .string("\(ticket.grant.user)@\(domain)"),
            "iat": .integer(order.issuedSeconds), "nbf": .integer(order.issuedSeconds),
            "exp": .integer(order.issuedSeconds + 3600),
        ])
    }

    /// The issuer of `common` and `organizations` is a pattern: a trap of the original.
    private func answerDiscovery(_ call: Call, _ tenant: String) throws(FamilyRefusal) -> Reply {
        let id: String
        switch tenant {
        case "common", "organizations": id = "{tenantid}"
        case "consumers", MicrosoftIDs.personalTenant: id = MicrosoftIDs.personalTenant
        default: id = try self.tenant(tenant).id
        }
        let base = "\(baseURL)/\(tenant)"
        return hand(
            [
                "issuer": .string("\(Self.authority)/\(id)/v2.0"),
                "token_endpoint": .string("\(base)/oauth2/v2.0/token"),
                "jwks_uri": .string("\(base)/discovery/v2.0/keys"),
                "token_endpoint_auth_methods_supported": [
                    "client_secret_post", "private_key_jwt", "client_secret_basic",
                ],
                "id_token_signing_alg_values_supported": ["RS256"],
                "subject_types_supported": ["pairwise"],
            ],
            call
        )
    }

    func tenant(_ name: String) throws(FamilyRefusal) -> MicrosoftConfiguration.Tenant {
        guard let tenant = service.read({ $0.tenant(name) }) else {
            throw .entra(90_002, String(name.prefix(64)))
        }
        return tenant
    }
}

/// What Microsoft remembers besides grants, codes and tokens.
struct MicrosoftState: GrantState {
    typealias Tenant = MicrosoftConfiguration.Tenant

    /// A token of a client for itself, by `client_credentials`.
    struct AppToken: Sendable {
        let tenantID: String
        let clientID: String
        let expiresSeconds: Int64
    }

    struct User: Sendable {
        let tenantID: String
        let objectID: String
        let name: String
        /// The grants of the user, at most one for every client.
        var keys: Set<GrantBook.Key> = []
        /// `signInSessionsValidFromDateTime`: refresh tokens of earlier sign-ins are dead.
        var validFromChain: UInt64 = 0
    }

    var book: GrantBook
    var tenants: [Tenant]
    var appTokens: BoundedTable<TokenDigest, AppToken>
    /// By tenant and object id.
    var users: [String: User] = [:]
    /// Permission grants and app role assignments, by their ids.
    var grantKeys: [String: GrantBook.Key] = [:]
    var assignmentKeys: [String: GrantBook.Key] = [:]
    var deletedSeconds: [GrantBook.Key: Int64] = [:]
    var deletedAssignments: Set<GrantBook.Key> = []

    init(_ configuration: MicrosoftConfiguration, capacity: Int) {
        book = GrantBook(capacity: capacity)
        tenants = configuration.tenants
        appTokens = BoundedTable(capacity: capacity)
    }

    mutating func renew(_ key: GrantBook.Key) {
        let ids = MicrosoftIDs(key)
        let place = "\(ids.tenantID)/\(ids.objectID)"
        var user =
            users[place]
            ?? User(tenantID: ids.tenantID, objectID: ids.objectID, name: key.user)
        user.keys.insert(key)
        users[place] = user
        grantKeys[ids.grantID] = key
        assignmentKeys[ids.assignmentID] = key
        deletedSeconds[key] = nil
        deletedAssignments.remove(key)
    }

    /// A tenant by GUID or domain.
    func tenant(_ name: String) -> Tenant? { tenants.first { $0.id == name || $0.domain == name } }

    /// A user by object id or user principal name.
    func user(_ name: String, in tenant: Tenant) -> User? {
        if let user = users["\(tenant.id)/\(name)"] { return user }
        guard name.hasSuffix("@\(tenant.domain)") else { return nil }
        let local = String(name.dropLast(tenant.domain.count + 1))
        return users["\(tenant.id)/\(MicrosoftIDs.objectID(of: local, in: tenant.id))"]
    }

    func refusal(of token: GrantBook.Token, now: Int64) -> FamilyRefusal? {
        let key = token.ticket.grant
        let ids = MicrosoftIDs(key)
        let user = users["\(ids.tenantID)/\(ids.objectID)"]
        guard token.ticket.chain > user?.validFromChain ?? 0 else { return .entra(50_173) }
        if now >= token.expiresSeconds ?? .max { return .entra(700_082) }
        guard book.standing(token, now: now) == .dead else { return nil }
        // A grant for everybody covers a user whose own grant was deleted.
        if book.grants[key]?.isLive == false, tenant(ids.tenantID)?.hasTenantWideGrant == true {
            return nil
        }
        return ids.isPersonal ? .entra(70_000) : .entra(65_001)
    }
}

/// The identifiers that Microsoft gives to a user, a client and what is between them; all of them
/// follow from the names, so that they need no table.
struct MicrosoftIDs: Sendable {
    /// The tenant of every personal account.
    static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    let tenantID: String
    let clientID: String
    /// `oid`: one for all clients of a tenant.
    let objectID: String
    /// `sub`: another for every client.
    let subject: String
    let grantID: String
    let assignmentID: String

    init(_ key: GrantBook.Key) {
        let parts = key.audience.split(separator: "/").map(String.init)
        tenantID = parts[0]
        clientID = parts[1]
        objectID = Self.objectID(of: key.user, in: parts[0])
        subject = Base64URL.text(SHA256.hash(Array("\(key.audience)/\(key.user)".utf8)))
        grantID = Self.text("grant/\(key.audience)/\(key.user)")
        assignmentID = Self.text("role/\(key.audience)/\(key.user)")
    }

    var isPersonal: Bool { tenantID == Self.personalTenant }

    var servicePrincipal: String { Self.servicePrincipal(of: clientID, in: tenantID) }

    static func audience(_ tenantID: String, _ clientID: String) -> String {
        "\(tenantID)/\(clientID)"
    }

    /// Personal accounts have zeros in front.
    static func objectID(of user: String, in tenantID: String) -> String {
        let id = guid("user/\(tenantID)/\(user)")
        return tenantID == personalTenant ? "00000000-0000-0000-" + id.suffix(17) : id
    }

    static func servicePrincipal(of clientID: String, in tenantID: String) -> String {
        guid("principal/\(tenantID)/\(clientID)")
    }

    static func graph(in tenantID: String) -> String { guid("graph/\(tenantID)") }

    static func tenantWideGrant(of clientID: String, in tenantID: String) -> String {
        text("everybody/\(tenantID)/\(clientID)")
    }

    static func guid(_ text: String) -> String {
        let digits = Array(TokenDigest.hexadecimal(text).prefix(32))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return groups.joined(separator: "-")
    }

    private static func text(_ name: String) -> String {
        Base64URL.text(SHA256.hash(Array(name.utf8)).prefix(24))
    }
}
