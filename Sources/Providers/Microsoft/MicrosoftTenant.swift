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
