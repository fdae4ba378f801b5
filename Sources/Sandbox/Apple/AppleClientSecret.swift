import Encoding
import Synchronization

/// Makes client secrets, for tests and for demonstrations in a shell.
package enum AppleClientSecret {
    /// The claims of a client secret; times in Unix seconds.
    package struct Claims: Codable, Sendable {
        package var iss: String
        package var sub: String
        package var aud: String
        package var iat: Double
        package var exp: Double
    }

    static let audience = "https://appleid.apple.com"

    /// Signs a client secret as an application's server would (Apple, "Creating a client secret").
    ///
    /// `changing` lets a test replace claims. ``SandboxError`` when the key cannot be used.
    package static func make(
        clientID: String,
        teamID: String,
        keyID: String,
        keyPEM: String,
        changing claims: (inout Claims) -> Void = { _ in }
    ) throws -> String {
        let now = Double(SandboxClock.wallMilliseconds() / 1000)
        // Back-dated for clocks that differ, and short-lived.
        var content = Claims(
            iss: teamID,
            sub: clientID,
            aud: audience,
            iat: now - 5,
            exp: now + 300
        )
        claims(&content)
        return try JSONWebToken.signed(
            TypedJSON.bytes(content),
            header: JSONWebToken.Header(alg: "ES256", kid: keyID),
            key: try CryptoKey(p256PEM: keyPEM)
        )
    }
}

/// The keys of teams, and the check of client secrets ("Creating a client secret").
final class AppleKeys: Sendable {
    private typealias Claims = AppleClientSecret.Claims

    private struct State {
        var keys: [String: (teamID: String, key: CryptoKey)] = [:]
        /// Callers that reuse a secret are not charged the signature check again.
        var verified = BoundedTable<TokenDigest, Claims>(capacity: 1024)
    }

    /// Six months, the longest that Apple accepts.
    private static let secretLifetimeSeconds: Double = 15_777_000
    /// A caller whose clock is further ahead gets `invalid_client`.
    private static let clockLeadSeconds: Double = 3

    private let state = Mutex(State())

    func register(_ key: CryptoKey, as keyID: String, of teamID: String) {
        state.withLock { state in
            state.keys[keyID] = (teamID, key)
            state.verified = State().verified
        }
    }

    /// Whether `secret` proves, at this time, that the caller is `clientID` of `teamID`.
    func accept(_ secret: String, for clientID: String, of teamID: String, at now: Double) -> Bool {
        guard let claims = verifiedClaims(secret), claims.iss == teamID, claims.sub == clientID,
            claims.aud == AppleClientSecret.audience
        else { return false }
        return claims.exp > now && claims.exp <= now + Self.secretLifetimeSeconds
            && claims.iat <= now + Self.clockLeadSeconds
    }

    /// The claims of a secret whose signature is good and whose key belongs to its issuer.
    private func verifiedClaims(_ secret: String) -> Claims? {
        let digest = TokenDigest(secret)
        return state.withLock { state in
            if let claims = state.verified[digest] { return claims }
            guard let token = JSONWebToken(secret), token.header.alg == "ES256",
                let keyID = token.header.kid, let registered = state.keys[keyID],
                token.isSigned(by: registered.key),
                let claims = token.claims(Claims.self), claims.iss == registered.teamID
            else { return nil }
            state.verified.insert(claims, for: digest)
            return claims
        }
    }
}
