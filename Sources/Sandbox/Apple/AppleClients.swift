import Synchronization

/// The registered clients and keys, and the check of client secrets (reference: Apple's
/// "Creating a client secret").
final class AppleClients: Sendable {
    private typealias Claims = AppleClientSecret.Claims

    private struct State {
        var teams: [String: String] = [:]
        var keys: [String: (teamID: String, key: CryptoKey)] = [:]
        var verified: [TokenDigest: Claims] = [:]
    }

    static let audience = "https://appleid.apple.com"
    /// Six months, the longest that Apple accepts.
    private static let secretLifetimeSeconds: Double = 15_777_000
    /// A caller whose clock is further ahead gets `invalid_client`.
    private static let clockLeadSeconds: Double = 3
    /// Callers that reuse a secret are not charged the signature check again; emptied when full.
    private static let verifiedCapacity = 1024

    private let state = Mutex(State())

    /// Registers clients of a team with one of the team's keys; repeating it replaces the key.
    func register(teamID: String, keyID: String, key: CryptoKey, clientIDs: [String]) {
        state.withLock { state in
            state.keys[keyID] = (teamID, key)
            for clientID in clientIDs {
                state.teams[clientID] = teamID
            }
            state.verified = [:]
        }
    }

    /// The team of a client; `nil` when it is not registered.
    func team(of clientID: String) -> String? {
        state.withLock { $0.teams[clientID] }
    }

    /// The clients, by name.
    var names: [String] { state.withLock { $0.teams.keys.sorted() } }

    /// The client that is used when a command names none: the only one, or the first by name.
    var defaultClientID: String? {
        state.withLock { $0.teams.keys.min() }
    }

    /// Tells whether `secret` proves, at this time, that the caller is `clientID`.
    func accepts(secret: String, for clientID: String, nowMilliseconds: Int64) -> Bool {
        guard let teamID = team(of: clientID),
            let claims = verifiedClaims(secret), claims.iss == teamID, claims.sub == clientID,
            claims.aud == Self.audience
        else { return false }
        let now = Double(nowMilliseconds) / 1000
        return claims.exp > now && claims.exp <= now + Self.secretLifetimeSeconds
            && claims.iat <= now + Self.clockLeadSeconds
    }

    /// The claims of a secret whose signature is good and whose key belongs to its issuer.
    private func verifiedClaims(_ secret: String) -> Claims? {
        let digest = TokenDigest(secret)
        if let claims = state.withLock({ $0.verified[digest] }) {
            return claims
        }
        guard let token = JSONWebToken(secret), token.header.alg == "ES256",
            let keyID = token.header.kid,
            let registered = state.withLock({ $0.keys[keyID] }),
            let signature = ECDSASignature.der(fromJOSE: token.signature),
            registered.key.verifies(signature, over: token.signedPart),
            let claims = token.claims(Claims.self), claims.iss == registered.teamID
        else { return nil }
        state.withLock { state in
            // The registration may have changed meanwhile; then the next call checks again.
            guard state.keys[keyID]?.key === registered.key else { return }
            if state.verified.count >= Self.verifiedCapacity {
                state.verified = [:]
            }
            state.verified[digest] = claims
        }
        return claims
    }
}
