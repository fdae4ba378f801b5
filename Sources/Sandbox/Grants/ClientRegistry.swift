import Cryptography
import Encoding
import Synchronization

/// How a client proves who it is (OpenID Connect Core 1.0 §9).
package enum ClientAuthentication: String, CaseIterable, Codable, Sendable {
    /// HTTP Basic; what OAuth assumes when nothing is said (RFC 8414 §2).
    case basic = "client_secret_basic"
    case post = "client_secret_post"
    case secretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
    /// A public client, which proves nothing.
    case none
}

/// A client that is registered with one of the families.
package struct ClientRegistration: Codable, Sendable {
    /// GitHub's two kinds of applications.
    package enum Kind: String, CaseIterable, Codable, Sendable {
        /// Tokens `gho_` without end.
        case oauthApp = "oauth_app"
        /// Tokens `ghu_` for 8 hours and `ghr_` that rotate.
        case gitHubApp = "github_app"
    }

    package var clientID: String
    /// The client secret; webhooks and signed requests are signed with it too.
    package var clientSecret: String?
    /// How the client must prove itself; by its key, by Basic with its secret, or not at all if
    /// `nil`, by what it has.
    package var authentication: ClientAuthentication?
    /// OAuth 2: the public or private key of `private_key_jwt`, PEM.
    package var keyPEM: String?
    /// Microsoft: the certificate of client assertions, PEM.
    package var certificatePEM: String?
    /// Google: the project; clients of one project share their users' grants.
    package var project: String?
    /// GitHub: which kind; an OAuth app if `nil`.
    package var kind: Kind?
    /// Facebook: whether every call needs `appsecret_proof`.
    package var requiresProof: Bool?

    package init(_ clientID: String, secret: String? = nil) {
        self.clientID = clientID
        clientSecret = secret
    }

    private enum CodingKeys: String, CodingKey {
        case clientID, clientSecret, authentication, project, kind, requiresProof
        case keyPEM = "keyPem"
        case certificatePEM = "certificatePem"
    }
}

final class ClientRegistry: Sendable {
    /// More than any test registers.
    private static let capacity = 10_000

    /// In their order; few enough to search.
    private let clients = Mutex<[RegisteredClient]>([])

    init(_ registrations: [ClientRegistration]) throws(SandboxError) {
        for registration in registrations {
            try register(registration)
        }
    }

    func register(_ registration: ClientRegistration) throws(SandboxError) {
        let client = try RegisteredClient(registration)
        let isRegistered = clients.withLock { clients in
            if let index = clients.firstIndex(where: { $0.id == client.id }) {
                clients[index] = client
                return true
            }
            guard clients.count < Self.capacity else { return false }
            clients.append(client)
            return true
        }
        guard isRegistered else {
            throw SandboxError(.full, cannot: "register client", at: client.id)
        }
    }

    subscript(_ clientID: String?) -> RegisteredClient? {
        clients.withLock { clients in clients.first { $0.id == clientID } }
    }

    /// The client of a command; the first that was registered when it names none.
    func client(_ clientID: String?) throws(SandboxError) -> RegisteredClient {
        let found = clientID == nil ? clients.withLock { $0.first } : self[clientID]
        guard let found else {
            throw SandboxError(.badRequest, cannot: "find client", at: clientID ?? "default")
        }
        return found
    }

    func listing(provider: String, baseURL: String) -> [SandboxClient] {
        clients.withLock { $0 }.map { client in
            SandboxClient(
                provider: provider,
                baseURL: baseURL,
                clientID: client.id,
                clientSecret: client.secret
            )
        }
    }
}

struct RegisteredClient: Sendable {
    let registration: ClientRegistration
    /// Verifies assertions: the registered key, or that of the certificate.
    let key: CryptoKey?
    let certificate: ClientCertificate?

    var id: String { registration.clientID }

    var secret: String? { registration.clientSecret }

    var authentication: ClientAuthentication {
        let usual: ClientAuthentication =
            key != nil ? .privateKeyJWT : secret == nil ? .none : .basic
        return registration.authentication ?? usual
    }

    init(_ registration: ClientRegistration) throws(SandboxError) {
        self.registration = registration
        certificate = try registration.certificatePEM.map { pem throws(SandboxError) in
            try ClientCertificate(pem: pem)
        }
        let own = try registration.keyPEM.map { pem throws(SandboxError) in
            try CryptoKey(pem: pem)
        }
        key = certificate?.key ?? own
    }

    func has(secret given: String?) -> Bool { given != nil && given == secret }

    func sign(_ message: [UInt8]) -> [UInt8] {
        KeyedHash.sha256(key: Array((secret ?? "").utf8), message: message)
    }
}

/// The check of a client's JWT (RFC 7523 §3), the proof of `client_secret_jwt`, `private_key_jwt`
/// and of Microsoft's certificates.
struct PresentedAssertion: Sendable {
    /// `client_assertion_type` (RFC 7523 §2.2).
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// A caller whose clock is further ahead is refused.
    private static let clockLeadSeconds: Double = 60

    /// Who it says that it is.
    let clientID: String
    /// The digest of `iss` and `jti`, which may come once only.
    let identity: TokenDigest?
    private let token: JSONWebToken
    private let claims: JSONValue
    private let issuer: String
    private let end: Double

    /// Takes the form's assertion apart; `nil` when there is none, or none that can be read.
    init?(_ form: ParsedForm) {
        guard form["client_assertion_type"] == Self.type, let text = form["client_assertion"],
            let token = JSONWebToken(text), let claims = JSONValue(token.payload),
            let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string,
            let end = claims["exp"]?.number
        else { return nil }
        (self.token, self.claims, self.issuer, self.end) = (token, claims, issuer, end)
        clientID = subject
        identity = claims["jti"]?.string.map { TokenDigest("\(issuer)\n\($0)") }
    }

    var header: JSONWebToken.Header { token.header }

    /// Whether it is meant for one of the audiences.
    func names(_ audiences: [String]) -> Bool {
        let named = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        return named.contains { audiences.contains($0.string ?? "") }
    }

    /// Whether the claims are about this client, for one of the audiences, now.
    func isAbout(_ clientID: String, audiences: [String], nowMilliseconds: Int64) -> Bool {
        let now = Double(nowMilliseconds) / 1000
        return issuer == clientID && self.clientID == clientID && end > now
            && (claims["nbf"]?.number ?? 0) <= now + Self.clockLeadSeconds && names(audiences)
    }

    /// Whether the signature is the client's, by an algorithm that its kind of proof has.
    func isSigned(by client: RegisteredClient) -> Bool {
        switch client.authentication {
        case .secretJWT:
            guard header.alg == "HS256", let secret = client.secret else { return false }
            let code = KeyedHash.sha256(key: Array(secret.utf8), message: token.signedPart)
            return code == token.signature
        case .basic, .post, .none, .privateKeyJWT:
            return client.key.map { token.isSigned(by: $0) } ?? false
        }
    }
}
