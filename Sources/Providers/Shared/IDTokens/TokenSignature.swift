/// What the published keys say about a token's signature.
enum TokenSignature: Sendable {
    case valid
    case bad
    /// No published key has the token's key id.
    case unknownKey
    /// The keys cannot be read now.
    case unavailable
}

extension SigningKeyCache {
    /// Checks a signature.
    ///
    /// The key decides the algorithm: what the token says about it must only agree.
    nonisolated func judge(_ token: IDToken) async -> TokenSignature {
        guard SigningKeySet.algorithms.contains(token.algorithm) else { return .bad }
        guard let keyID = token.keyID else { return .unknownKey }
        switch await lookUp(keyID) {
        case .unavailable: return .unavailable
        case .unknownKey: return .unknownKey
        case .found(let keys): return keys.verify(token) ? .valid : .bad
        }
    }
}
