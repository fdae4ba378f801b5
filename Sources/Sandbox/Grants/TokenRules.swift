/// What tokens a provider gives to a client.
struct TokenRules: Sendable {
    /// The beginning of access tokens, which tells some providers' kinds apart.
    var accessPrefix: String
    /// `nil` for tokens without end.
    var accessLifetimeSeconds: Int64?
    /// The beginning of refresh tokens; `nil` when there are none.
    var refreshPrefix: String?
    var refreshLifetimeSeconds: Int64?
}

/// Tokens that were just made.
struct TokenSet: Sendable {
    let access: String
    let refresh: String?
    let rules: TokenRules
}
