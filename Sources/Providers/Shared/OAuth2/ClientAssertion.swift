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

    private let members: [(StaticString, String)]
    private let signer: any MessageSigner

    /// The header has `alg` and `typ` besides `members`, which are plain text.
    init(_ signer: any MessageSigner, header members: [(StaticString, String)]) {
        (self.signer, self.members) = (signer, members)
    }

    /// Signs a fresh assertion for the token endpoint or the issuer, as the provider wants.
    ///
    /// - Throws: ``VaultError`` when the key does not sign.
    func make(
        for clientID: String,
        audience: String,
        now: WallTime,
        nonce: String = RandomText.nonce(),
        backdating: Duration = ClientAssertion.backdating
    ) throws(VaultError) -> [UInt8] {
        var claims = JSONBody()
        claims.add("iss", clientID)
        claims.add("sub", clientID)
        claims.add("aud", audience)
        // A server refuses an assertion that it has seen (RFC 7523 §3, point 7).
        claims.add("jti", nonce)
        let issued = Int((now - backdating).unixMilliseconds / 1000)
        claims.add("iat", issued)
        claims.add("nbf", issued)
        claims.add("exp", Int((now + Self.lifetime).unixMilliseconds / 1000))
        return try CompactToken.sign(claims, header: members, by: signer)
    }
}

/// Text that never repeats.
package enum RandomText {
    /// 128 bits of the system's random source in hexadecimal.
    package static let nonce: @Sendable () -> String = {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return Hexadecimal.text(bytes)
    }
}
