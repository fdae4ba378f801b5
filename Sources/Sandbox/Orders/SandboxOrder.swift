/// The commands that every provider understands; their JSON is that of the admin routes, with names
/// in snake case.
package enum SandboxOrder {
    /// A sign-in to play.
    package struct SignIn: Codable, Sendable {
        package var user: String
        /// The client; the first that was registered if `nil`.
        package var clientID: String?
        /// The nonce as the application made it; random if `nil`.
        package var nonce: String?
        package var redirectURI: String?
        /// The `S256` challenge (RFC 7636); made by the sandbox where one is needed.
        package var codeChallenge: String?
        package var scope: String?
        /// Where the user signs in: Microsoft's tenant or `consumers`, Facebook's `limited`, X's
        /// `oauth1`.
        package var realm: String?
        /// How old the code and the id token are already.
        package var ageSeconds: Int64?
        /// When they were issued, instead of their age.
        package var issuedAtSeconds: Int64?

        package init(user: String) { self.user = user }

        func issuedSeconds(now: Int64) throws(SandboxError) -> Int64 {
            let age = ageSeconds ?? 0
            // A century: keeps the arithmetic from overflowing.
            guard (0...3_155_760_000).contains(age) else {
                throw SandboxError(.badRequest, cannot: "sign in", at: "age_s")
            }
            return issuedAtSeconds ?? (now - age)
        }

        private enum CodingKeys: String, CodingKey {
            case user, clientID, nonce, codeChallenge, scope, realm
            case redirectURI = "redirectUri"
            case ageSeconds = "ageS"
            case issuedAtSeconds = "issuedAtUnixS"
        }
    }

    /// Tokens without sign-ins.
    package struct Tokens: Codable, Sendable {
        /// How many users, 1 to 100,000.
        package var count: Int
        package var clientID: String?
        /// The beginning of the users' names; `user-` if `nil`.
        package var userPrefix: String?
        package var scope: String?
        package var realm: String?
        package var ageSeconds: Int64?

        package init(count: Int = 1) { self.count = count }

        private enum CodingKeys: String, CodingKey {
            case count, clientID, userPrefix, scope, realm
            case ageSeconds = "ageS"
        }
    }

    /// Something that the user, or the provider, ends.
    package struct Withdrawal: Codable, Sendable {
        package var user: String
        package var clientID: String?
        package var realm: String?
        /// What happens, in the provider's words; its usual cut if `nil`.
        package var event: String?
        package var token: String?

        package init(user: String, event: String? = nil) {
            (self.user, self.event) = (user, event)
        }

        /// The event, which must be one of the provider's; the first is the usual one.
        func event(of known: [String]) throws(SandboxError) -> String {
            let event = event ?? known[0]
            guard known.contains(event) else {
                throw SandboxError(
                    .badRequest,
                    cannot: "make notification",
                    at: "event",
                    cause: "there are: \(known.joined(separator: ", "))"
                )
            }
            return event
        }
    }
}

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
