/// The commands that every provider but Apple understands; their JSON is that of the admin routes.
package enum SandboxOrder {
    /// A sign-in to play.
    package struct SignIn: Codable, Sendable {
        /// A name of your own for the user.
        package var user: String
        /// The client; the first that was registered if `nil`.
        package var clientID: String?
        /// The nonce of the id token, as the application sent it; random if `nil`.
        package var nonce: String?
        /// What the exchange must repeat.
        package var redirectURI: String?
        /// The `S256` challenge (RFC 7636); made by the sandbox where one is needed.
        package var codeChallenge: String?
        /// What was asked for, with blanks between.
        package var scope: String?
        /// Where the user signs in: Microsoft's tenant or `consumers`, Facebook's `limited`, X's
        /// `oauth1`.
        package var realm: String?
        /// How old the code and the id token are already.
        package var ageSeconds: Int64?

        /// Makes an order for a user.
        package init(user: String) {
            self.user = user
        }

        /// When the code was issued.
        func issuedSeconds(now: Int64) throws(SandboxError) -> Int64 {
            let age = ageSeconds ?? 0
            // A century: keeps the arithmetic from overflowing.
            guard (0...3_155_760_000).contains(age) else {
                throw SandboxError(.badRequest, cannot: "sign in", at: "age_s")
            }
            return now - age
        }

        private enum CodingKeys: String, CodingKey {
            case user
            case clientID = "client_id"
            case nonce
            case redirectURI = "redirect_uri"
            case codeChallenge = "code_challenge"
            case scope
            case realm
            case ageSeconds = "age_s"
        }
    }

    /// Tokens without sign-ins.
    package struct Tokens: Codable, Sendable {
        /// How many users, 1 to 100,000.
        package var count: Int
        /// The client; the first that was registered if `nil`.
        package var clientID: String?
        /// The beginning of the users' names; `user-` if `nil`.
        package var userPrefix: String?
        /// What was asked for, with blanks between.
        package var scope: String?
        /// Where the users sign in: Microsoft's tenant or `consumers`, Facebook's `limited`, X's
        /// `oauth1`.
        package var realm: String?
        /// How old the tokens are already.
        package var ageSeconds: Int64?

        /// Makes an order for users of the first client.
        package init(count: Int = 1) {
            self.count = count
        }

        private enum CodingKeys: String, CodingKey {
            case count
            case clientID = "client_id"
            case userPrefix = "user_prefix"
            case scope
            case realm
            case ageSeconds = "age_s"
        }
    }

    /// Something that the user, or the provider, ends.
    package struct Withdrawal: Codable, Sendable {
        /// The name used at the sign-in.
        package var user: String
        /// The client; the first that was registered if `nil`.
        package var clientID: String?
        /// Where the user signs in: Microsoft's tenant or `consumers`, Facebook's `limited`, X's
        /// `oauth1`.
        package var realm: String?
        /// What happens, in the provider's words; its usual cut if `nil`.
        package var event: String?
        /// The token that the event is about, where it is about one.
        package var token: String?

        /// Makes an order for a user.
        package init(user: String, event: String? = nil) {
            self.user = user
            self.event = event
        }

        private enum CodingKeys: String, CodingKey {
            case user
            case clientID = "client_id"
            case realm
            case event
            case token
        }
    }
}
