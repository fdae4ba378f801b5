import Cryptography
import Encoding

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

    /// The service principal of Microsoft Graph.
    static func graph(in tenantID: String) -> String { guid("graph/\(tenantID)") }

    /// The id of the grant for everybody.
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
