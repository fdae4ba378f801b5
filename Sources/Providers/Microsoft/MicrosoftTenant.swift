import Lifecycle

/// Which accounts a registration signs in; the `{tenant}` of every address.
///
/// "Microsoft identity platform endpoints": three words, a tenant's GUID, or one of its domains.
enum MicrosoftTenant: Hashable, Sendable {
    case common
    case organizations
    case consumers
    case directory(String)
    case domain(String)

    /// The tenant that all personal accounts are in ("ID token claims reference").
    static let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// `nil` for text that is neither a word, a GUID nor a domain.
    init?(_ text: String) {
        switch text.lowercased() {
        case "common": self = .common
        case "organizations": self = .organizations
        case "consumers": self = .consumers
        case let guid where MicrosoftID.isGUID(guid): self = .directory(guid)
        case let name where Self.isDomain(name): self = .domain(name)
        default: return nil
        }
    }

    var path: String {
        switch self {
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        case .directory(let name), .domain(let name): name
        }
    }

    /// Whether users of the tenant `tid` may sign in; `own` is the GUID behind a domain, once it is
    /// known.
    func admits(_ tid: String, own: String?) -> Bool {
        switch self {
        case .common: true
        case .organizations: tid != Self.personal
        case .consumers: tid == Self.personal
        case .directory(let guid): tid == guid
        case .domain: tid == own
        }
    }

    private static func isDomain(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { byte in
                        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
                            || byte == 0x2d
                    }
            }
    }
}

/// A user as expunged knows one at Microsoft: object id and tenant, `OID.TID`.
///
/// `sub` is another one for each application and no use at Graph; `oid` is the same everywhere, but
/// only together with `tid` ("ID token claims reference").
struct MicrosoftID: Hashable, Sendable {
    let object: String
    let tenant: String

    /// Whether it is a personal account; by the tenant, since nothing is promised of the object id.
    var isPersonal: Bool { tenant == MicrosoftTenant.personal }

    /// Reads `OID.TID`; `nil` when it is not two GUIDs.
    init?(_ subject: Secret) {
        let parts = subject.exposeText().lowercased()
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(Self.isGUID) else { return nil }
        object = parts[0]
        tenant = parts[1]
    }

    /// Reads the claims `oid` and `tid`; `oid` needs the scope `profile`.
    init?(_ token: IDToken) {
        guard let object = token.text("oid")?.lowercased(), Self.isGUID(object),
            let tenant = token.text("tid")?.lowercased(), Self.isGUID(tenant)
        else { return nil }
        (self.object, self.tenant) = (object, tenant)
    }

    var subject: Secret { Secret("\(object).\(tenant)") }

    /// Whether Firebase's `rawId` is this user: the object id.
    ///
    /// That of a personal account has 16 digits at most, so Firebase leaves out dashes and the
    /// zeros before them.
    func isNamed(_ name: Secret) -> Bool {
        let name = name.exposeText().lowercased()
        guard isPersonal else { return name == object }
        let (digits, own) = (Self.digits(name), Self.digits(object))
        return !own.isEmpty && digits == own
    }

    private static func digits(_ text: String) -> String {
        String(text.filter { $0 != "-" }.drop { $0 == "0" })
    }

    /// 8-4-4-4-12 hexadecimal digits in lower case.
    static func isGUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }
}
