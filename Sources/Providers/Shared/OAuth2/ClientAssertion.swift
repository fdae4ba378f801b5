import Encoding
import Engine
import HTTP
import Lifecycle

/// Makes the JWT that authenticates a client (RFC 7523 §2.2), anew for every call.
///
/// Serves `client_secret_jwt` and `private_key_jwt` (OpenID Connect Core §9) and every vendor that
/// takes the same with a header of its own.
struct ClientAssertion: Sendable {
    /// The value of `client_assertion_type`.
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// A clock ahead of the provider's makes the assertion invalid, so it is dated back this far.
    static let backdating = Duration.seconds(30)
    /// Nothing here lives longer than a call, clocks apart by minutes included.
    static let lifetime = Duration.seconds(300)

    private let header: [UInt8]
    private let signer: any MessageSigner

    /// - Parameters:
    ///   - signer: Holds the key.
    ///   - members: Header members beside `alg` and `typ`, such as `kid`; plain text.
    init(_ signer: any MessageSigner, header members: [(StaticString, String)]) {
        self.signer = signer
        var json = JSONBody()
        json.add("alg", signer.algorithm.rawValue)
        json.add("typ", "JWT")
        for (name, value) in members { json.add(name, value) }
        var text: [UInt8] = []
        Base64URL.append(json.bytes, to: &text)
        header = text + [UInt8(ascii: ".")]
    }

    /// Signs a fresh assertion.
    ///
    /// - Parameters:
    ///   - clientID: Becomes `iss` and `sub`.
    ///   - audience: Becomes `aud`: the token endpoint or the issuer, as the provider wants.
    ///   - now: Becomes `iat`, `nbf` and `exp`.
    /// - Returns: The compact JWT.
    /// - Throws: ``VaultError`` when the key does not sign.
    func make(for clientID: String, audience: String, now: WallTime) throws(VaultError) -> [UInt8] {
        var claims = JSONBody()
        claims.add("iss", clientID)
        claims.add("sub", clientID)
        claims.add("aud", audience)
        claims.add("jti", Self.randomID())
        let issued = Int((now - Self.backdating).unixMilliseconds / 1000)
        claims.add("iat", issued)
        claims.add("nbf", issued)
        claims.add("exp", Int((now + Self.lifetime).unixMilliseconds / 1000))
        var token = header
        Base64URL.append(claims.bytes, to: &token)
        let signature = try signer.sign(token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &token)
        return token
    }

    /// 128 random bits: a server refuses an assertion that it has seen (RFC 7523 §3, point 7).
    private static func randomID() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var text: [UInt8] = []
        Base64URL.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
