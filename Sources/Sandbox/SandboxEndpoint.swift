/// A provider's endpoint that the sandbox stands in for.
package enum SandboxEndpoint: String, CaseIterable, Codable, Sendable {
    /// Exchange of a code, check of a refresh token.
    case token
    /// Revocation.
    case revoke
    /// The provider's public keys.
    case keys
}
