/// Tokens that were made without a sign-in.
package struct SandboxToken: Codable, Sendable {
    /// The name that the admin routes know the user by.
    package let user: String
    /// The provider's identifier of the user.
    package let subject: String
    /// The access token.
    package let accessToken: String
    /// The refresh token, where the provider has them.
    package let refreshToken: String?
    /// The secret of an OAuth 1.0a token.
    package let tokenSecret: String?

    private enum CodingKeys: String, CodingKey {
        case user
        case subject
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case tokenSecret = "token_secret"
    }
}
