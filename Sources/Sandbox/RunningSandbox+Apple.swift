import Encoding

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

    /// Lets the user cut the authorization at Apple, and returns the notification that Apple sends.
    ///
    /// - Throws: ``SandboxError`` when the user never signed in.
    package func withdrawConsent(
        user: String,
        event: AppleNotification.Event = .consentRevoked
    ) throws -> AppleNotification {
        let order = SandboxOrder.Withdrawal(user: user, event: event.rawValue)
        let body = try withdraw(order, at: .apple)?.body ?? ""
        return AppleNotification(payload: JSONValue(Array(body.utf8))?["payload"]?.string ?? "")
    }

    /// Whether the user's authorization stands; `nil` when there never was one.
    package func grantState(user: String) -> SandboxGrant.State? {
        families.apple.grants(user: user).first?.state
    }

    /// - Throws: ``SandboxError`` when no key can be made.
    package func rotateKeys(withdrawingOld: Bool = false) throws -> [String] {
        try rotateKeys(at: .apple, withdrawingOld: withdrawingOld)
    }
}
