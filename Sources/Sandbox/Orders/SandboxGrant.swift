/// A user's authorization, as the user sees it in the settings of the account.
package struct SandboxGrant: Codable, Equatable, Sendable {
    /// Whether the application is on the user's list.
    package enum State: String, Codable, Sendable {
        case live
        /// It was cut by a revoke or by the user.
        case revoked
    }

    /// The name that the admin routes know the user by.
    package let user: String
    package let subject: String
    /// Who was authorized: the client, Google's project, Microsoft's tenant and client.
    package let audience: String
    /// Apple: the audience, which is a team.
    package let teamID: String?
    package let state: State
    /// Tokens under it that nothing but their age may have ended.
    package let liveTokens: Int

    private enum CodingKeys: String, CodingKey {
        case user, subject, audience, state
        case teamID = "team_id"
        case liveTokens = "live_tokens"
    }
}
