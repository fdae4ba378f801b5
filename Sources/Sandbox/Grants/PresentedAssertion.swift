import Cryptography
import Encoding

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
