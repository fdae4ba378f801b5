/// A registered client, for whoever configures an application or a service with it.
package struct SandboxClient: Encodable, Equatable, Sendable {
    package let provider: String
    package let baseURL: String
    package let clientID: String
    package let clientSecret: String?

    private enum CodingKeys: String, CodingKey {
        case provider, clientID, clientSecret
        case baseURL = "baseUrl"
    }
}

/// What an application holds after a user signed in.
package struct SandboxSignIn: Codable, Sendable {
    package let code: String?
    /// What the exchange must bring, when the sandbox made the challenge.
    package let codeVerifier: String?
    package let idToken: String?
    package let subject: String
    package let rawNonce: String
}

/// Tokens that were made without a sign-in.
package struct SandboxToken: Codable, Sendable {
    package let user: String
    package let subject: String
    package let accessToken: String
    package let refreshToken: String?
    /// The secret of an OAuth 1.0a token.
    package let tokenSecret: String?
}

/// What a provider would send to the application's server, ready to be posted.
package struct SandboxNotification: Codable, Equatable, Sendable {
    /// The headers that matter, `content-type` among them.
    package let headers: [String: String]
    package let body: String

    init(contentType: String, headers: [String: String] = [:], body: String) {
        self.headers = headers.merging(["content-type": contentType]) { first, _ in first }
        self.body = body
    }
}

/// A user's authorization, as the user sees it in the settings of the account.
package struct SandboxGrant: Codable, Equatable, Sendable {
    /// Whether the application is on the user's list.
    package enum State: String, Codable, Sendable {
        case live
        case revoked
    }

    /// The name that the admin routes know the user by.
    package let user: String
    package let subject: String
    /// Who was authorized: the client, Google's project, Microsoft's tenant and client.
    package let audience: String
    package let teamID: String?
    package let state: State
    /// Tokens under it that nothing but their age may have ended.
    package let liveTokens: Int
}
