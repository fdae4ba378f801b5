/// The check of a client's JWT (RFC 7523 §3), the proof of `client_secret_jwt`, `private_key_jwt`
/// and of Microsoft's certificates.
struct ClientAssertion: Sendable {
    /// `client_assertion_type` (RFC 7523 §2.2).
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// A caller whose clock is further ahead is refused.
    private static let clockLeadSeconds: Double = 60

    private struct Claims: Decodable, Sendable {
        struct Audience: Decodable, Sendable {
            let values: [String]

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                do {
                    values = [try container.decode(String.self)]
                } catch {
                    values = try container.decode([String].self)
                }
            }
        }

        let iss: String
        let sub: String
        let aud: Audience
        let exp: Double
        let nbf: Double?
        let jti: String?
    }

    let header: JSONWebToken.Header
    /// The digest of `iss` and `jti`, which may come once only.
    let identity: TokenDigest?
    private let token: JSONWebToken
    private let claims: Claims

    /// Takes the form's assertion apart; `nil` when there is none, or none that can be read.
    init?(_ form: FormBody) {
        guard form["client_assertion_type"] == Self.type, let text = form["client_assertion"],
            let token = JSONWebToken(text), let claims = token.claims(Claims.self)
        else { return nil }
        self.token = token
        self.claims = claims
        header = token.header
        identity = claims.jti.map { TokenDigest("\(claims.iss)\n\($0)") }
    }

    /// Who it says that it is.
    var clientID: String { claims.sub }

    /// Tells whether it is meant for one of the audiences.
    func names(_ audiences: [String]) -> Bool {
        claims.aud.values.contains { audiences.contains($0) }
    }

    /// Tells whether the claims are about this client, for one of the audiences, now.
    func isAbout(_ clientID: String, audiences: [String], nowMilliseconds: Int64) -> Bool {
        let now = Double(nowMilliseconds) / 1000
        return claims.iss == clientID && claims.sub == clientID && claims.exp > now
            && (claims.nbf ?? 0) <= now + Self.clockLeadSeconds
            && names(audiences)
    }

    /// Tells whether the signature is the client's, by an algorithm that its kind of proof has.
    func isSigned(by client: RegisteredClient) -> Bool {
        switch client.authentication {
        case .secretJWT:
            guard header.alg == "HS256", let secret = client.secret else { return false }
            let code = MessageCode.sha256(key: Array(secret.utf8), message: token.signedPart)
            return code == token.signature
        case .basic, .post, .none, .privateKeyJWT:
            return client.key.map { token.isSigned(by: $0) } ?? false
        }
    }
}
