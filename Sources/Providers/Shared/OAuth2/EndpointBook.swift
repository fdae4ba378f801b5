import HTTP
import Lifecycle
import NIOHTTP1

/// The endpoints of one provider: as configured, or as its issuer's metadata names them.
struct EndpointBook: Sendable {
    enum Role: String, Sendable, CaseIterable {
        case token, revocation, introspection, keys
        /// Where the client gets a token for itself; never from metadata.
        case clientToken

        /// The member of the metadata (RFC 8414 §2).
        var member: String? {
            switch self {
            case .token, .revocation, .introspection: "\(rawValue)_endpoint"
            case .keys: "jwks_uri"
            case .clientToken: nil
            }
        }

        var method: HTTPMethod { self == .keys ? .GET : .POST }
    }

    enum Lookup: Sendable {
        case found(RemoteEndpoint)
        /// There is none, or none that may be used.
        case absent
        /// The metadata could not be read.
        case unavailable
    }

    static let lifetime = Duration.seconds(86_400)

    private let fixed: [Role: RemoteEndpoint]
    private let discovered: FetchedValue<[Role: RemoteEndpoint]>?

    init(
        _ settings: OAuth2ProviderSettings,
        http: RemoteClient,
        now: @escaping @Sendable () -> WallTime
    ) throws(SetupError) {
        fixed = try Self.fixed(settings)
        guard settings.discovers, let issuer = settings.issuer else {
            discovered = nil
            return
        }
        let hosts = settings.endpointHosts
        let metadata = try IssuerMetadata(issuer, hosts: hosts, http: settings.http)
        discovered = FetchedValue(lifetime: Self.lifetime, now: now) { await metadata.fetch(http) }
    }

    /// The configured endpoints; checked before anything that must be shut down exists.
    static func fixed(
        _ settings: OAuth2ProviderSettings
    ) throws(SetupError) -> [Role: RemoteEndpoint] {
        var fixed: [Role: RemoteEndpoint] = [:]
        for (role, url) in settings.urls {
            fixed[role] = try RemoteEndpoint(whole: url, method: role.method, settings.http)
        }
        return fixed
    }

    /// Finds an endpoint; reads the metadata when it is not configured.
    func find(_ role: Role) async -> Lookup {
        if let endpoint = fixed[role] { return .found(endpoint) }
        guard let discovered else { return .absent }
        guard let endpoints = await discovered.get() else { return .unavailable }
        return endpoints[role].map { .found($0) } ?? .absent
    }
}
