/// The success of `/auth/token` (developer.apple.com, TokenResponse).
struct AppleTokenResponse: Encodable, Sendable {
    let accessToken: String
    let tokenType = "Bearer"
    let expiresIn = AppleState.accessLifetimeSeconds
    /// Only for the exchange of a code; the check of a refresh token does not repeat it.
    let refreshToken: String?
    let idToken: String?

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
    }
}

/// The failure of `/auth/token` and `/auth/revoke` (developer.apple.com, ErrorResponse).
struct AppleErrorResponse: Encodable, Sendable {
    let error: String
    let errorDescription: String?

    private enum CodingKeys: String, CodingKey {
        case error
        case errorDescription = "error_description"
    }
}
