import Encoding
import Engine
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

/// Reads what an issuer publishes about itself (RFC 8414; OpenID Connect Discovery 1.0).
struct IssuerMetadata: Sendable {
    private let issuer: String
    private let documents: [RemoteEndpoint]
    private let allowed: Set<String>
    private let http: RemoteSettings

    /// The `issuer` of the document must equal this one byte for byte (RFC 8414 §3.3).
    ///
    /// - Throws: ``SetupError`` for an issuer that is no base URL.
    init(_ issuer: String, hosts: [String], http: RemoteSettings) throws(SetupError) {
        (self.issuer, self.http) = (issuer, http)
        let base = try RemoteBaseURL(issuer, http)
        allowed = Set(hosts.map { $0.lowercased() }).union([base.authority])
        let scheme = base.text.prefix { $0 != ":" }
        let rest = base.text.dropFirst(scheme.count + 3)
        let host = rest.prefix { $0 != "/" }
        let root = try RemoteBaseURL("\(scheme)://\(host)", http)
        let path = String(rest.dropFirst(host.count))
        documents = [
            // OpenID Connect Discovery 1.0 §4 appends, RFC 8414 §3.1 puts in between.
            try RemoteEndpoint(base, path: "/.well-known/openid-configuration", method: .GET),
            try RemoteEndpoint(
                root,
                path: "/.well-known/oauth-authorization-server" + path,
                method: .GET
            ),
        ]
    }

    /// Reads the first document that is there.
    ///
    /// - Returns: The endpoints that may be used; `nil` without a document of this issuer.
    func fetch(_ client: RemoteClient) async -> [EndpointBook.Role: RemoteEndpoint]? {
        for document in documents {
            // What comes is about no token.
            let request = RemoteRequest(document)
            let outcome = await AnswerRecorder.probing { await client.send(request) }
            guard case .reply(let reply) = outcome, reply.status == 200,
                let json = ReplyBody(reply).json
            else { continue }
            return endpoints(json)
        }
        return nil
    }

    /// The endpoints of a document, without those at hosts that nobody allowed.
    ///
    /// What an issuer publishes decides where tokens go, so it must not lead to a private address
    /// or to a stranger: only the issuer's own authority and the listed ones are taken.
    func endpoints(_ json: JSONValue) -> [EndpointBook.Role: RemoteEndpoint]? {
        guard json["issuer"]?.string == issuer else { return nil }
        var endpoints: [EndpointBook.Role: RemoteEndpoint] = [:]
        for role in EndpointBook.Role.allCases {
            guard let url = role.member.flatMap({ json[$0]?.string }) else { continue }
            do throws(SetupError) {
                guard try allowed.contains(RemoteBaseURL(url, http).authority) else { continue }
                endpoints[role] = try RemoteEndpoint(whole: url, method: role.method, http)
            } catch {
                continue
            }
        }
        return endpoints
    }
}
