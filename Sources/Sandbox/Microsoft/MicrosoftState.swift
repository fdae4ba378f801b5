import Cryptography
import Encoding

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
