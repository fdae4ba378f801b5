import Encoding
package import Sandbox

/// The commands to Apple, whose sign-ins always have a code and an id token.
extension RunningSandbox {
    /// Signs a user in with Apple.
    ///
    /// - Parameters:
    ///   - user: A name of your own for the user.
    ///   - clientID: The client; the first if `nil`.
    ///   - rawNonce: The nonce before hashing; a random one if `nil`.
    ///   - redirectURI: What the exchange must repeat; `nil` as from a native application.
    ///   - age: How old the code and the id token are already.
    /// - Returns: What the application holds afterwards.
    /// - Throws: ``SandboxError`` when the client is unknown or the sandbox full.
    package func signIn(
        user: String,
        clientID: String? = nil,
        rawNonce: String? = nil,
        redirectURI: String? = nil,
        age: Duration = .zero
    ) throws -> AppleSignIn {
        var order = SandboxOrder.SignIn(user: user)
        order.clientID = clientID
        order.nonce = rawNonce
        order.redirectURI = redirectURI
        order.ageSeconds = age.components.seconds
        let made = try signIn(order, at: .apple)
        return AppleSignIn(
            code: made.code ?? "",
            idToken: made.idToken ?? "",
            subject: made.subject,
            rawNonce: made.rawNonce
        )
    }

    /// Makes refresh tokens without sign-ins, for users named `userPrefix` and a number from 1.
    ///
    /// - Throws: ``SandboxError`` when the client is unknown, the count is not 1 to 100,000 or the
    ///   sandbox is full.
    package func issueRefreshTokens(
        count: Int,
        clientID: String? = nil,
        userPrefix: String = "user-"
    ) throws -> [AppleIssuedToken] {
        var order = SandboxOrder.Tokens(count: count)
        order.clientID = clientID
        order.userPrefix = userPrefix
        return try issueTokens(order, at: .apple).map { token in
            AppleIssuedToken(
                user: token.user,
                subject: token.subject,
                refreshToken: token.refreshToken ?? ""
            )
        }
    }

    /// Lets the user cut the authorization at Apple, and returns the signed event that Apple sends.
    ///
    /// - Throws: ``SandboxError`` when the user never signed in.
    package func withdrawConsent(
        user: String,
        event: AppleEvent = .consentRevoked
    ) throws -> String {
        let order = SandboxOrder.Withdrawal(user: user, event: event.rawValue)
        let body = try withdraw(order, at: .apple)?.body ?? ""
        return JSONValue(Array(body.utf8))?["payload"]?.string ?? ""
    }

    /// Whether the user's authorization stands; `nil` when there never was one.
    package func grantState(user: String) -> SandboxGrant.State? {
        grants(at: .apple, user: user).first?.state
    }

    /// - Throws: ``SandboxError`` when no key can be made.
    package func rotateKeys(withdrawingOld: Bool = false) throws -> [String] {
        try rotateKeys(at: .apple, withdrawingOld: withdrawingOld)
    }
}

/// What an application holds after a user signed in with Apple.
package struct AppleSignIn: Codable, Sendable {
    /// The authorization code: five minutes, one use.
    package let code: String
    package let idToken: String
    /// Apple's identifier of the user, the same for every client of a team.
    package let subject: String
    /// The nonce before hashing; the id token has its SHA-256 in hexadecimal.
    package let rawNonce: String

    private enum CodingKeys: String, CodingKey {
        case code, subject
        case idToken = "id_token"
        case rawNonce = "raw_nonce"
    }
}

/// A refresh token that was made without a sign-in.
package struct AppleIssuedToken: Codable, Sendable {
    package let user: String
    /// Apple's identifier of the user.
    package let subject: String
    package let refreshToken: String

    private enum CodingKeys: String, CodingKey {
        case user, subject
        case refreshToken = "refresh_token"
    }
}
