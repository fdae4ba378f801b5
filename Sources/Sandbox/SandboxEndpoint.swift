/// A provider's endpoint that the sandbox stands in for.
package enum SandboxEndpoint: String, CaseIterable, Codable, Sendable {
    /// Exchange of a code, check of a refresh token.
    case token
    case revoke
    /// The provider's public keys.
    case keys
    /// Metadata: RFC 8414, OpenID Connect Discovery, Google's RISC configuration.
    case discovery
    /// Whether a token or a grant is live: introspection, `debug_token`, the user's profile.
    case check
    /// The data of a store.
    case data
}
