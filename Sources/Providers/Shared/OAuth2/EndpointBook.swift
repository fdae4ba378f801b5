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

    private var fixed: [Role: RemoteEndpoint] = [:]
    private var metadata: IssuerMetadata?
    private var discovered: FetchedValue<[Role: RemoteEndpoint]>?

    init(_ profile: OAuth2Profile, _ settings: RemoteSettings) throws(SetupError) {
        for (role, url) in profile.urls {
            fixed[role] = try RemoteEndpoint(whole: url, method: role.method, settings)
        }
        guard let issuer = profile.issuer else { return }
        let published = try IssuerMetadata(issuer, hosts: profile.endpointHosts, http: settings)
        if profile.hasMetadata { metadata = published }
    }

    /// The same endpoints, and those of the metadata.
    func reading(with http: RemoteClient, now: @escaping @Sendable () -> WallTime) -> Self {
        guard let metadata else { return self }
        var book = self
        book.discovered = FetchedValue(lifetime: Self.lifetime, now: now) {
            await metadata.fetch(http)
        }
        return book
    }

    /// Finds an endpoint; reads the metadata when it is not configured.
    func find(_ role: Role) async -> Lookup {
        if let endpoint = fixed[role] { return .found(endpoint) }
        guard let discovered else { return .absent }
        guard let endpoints = await discovered.get() else { return .unavailable }
        return endpoints[role].map { .found($0) } ?? .absent
    }
}
