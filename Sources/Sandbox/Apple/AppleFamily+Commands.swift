import FoundationEssentials
import Synchronization

/// What the admin routes and tests make happen on the users' and on Apple's side.
extension AppleFamily {
    /// A sign-in to play.
    struct SignInOrder: Sendable {
        var user: String
        var clientID: String?
        var rawNonce: String?
        var redirectURI: String?
        /// When the code was issued; now if `nil`.
        var issuedSeconds: Int64?
    }

    /// Registers clients of a team and the key that signs their secrets.
    func register(
        teamID: String,
        keyID: String,
        keyPEM: String,
        clientIDs: [String]
    ) throws(SandboxError) {
        let key = try CryptoKey(p256PEM: keyPEM)
        clients.register(teamID: teamID, keyID: keyID, key: key, clientIDs: clientIDs)
    }

    /// Signs a user in.
    func signIn(_ order: SignInOrder) throws -> AppleSignIn {
        let (clientID, key) = try resolve(order.user, order.clientID)
        let rawNonce = order.rawNonce ?? TokenGenerator.token("n")
        let nonce = TokenDigest.hexadecimal(rawNonce)
        let code = TokenGenerator.token("c")
        let digest = TokenDigest(code)
        let issued = order.issuedSeconds ?? clock.nowSeconds
        let grant = try state.withLock { state throws(SandboxError) in
            let grant = try state.authorize(key)
            state.addCode(
                AppleState.Code(
                    grant: key,
                    generation: grant.generation,
                    clientID: clientID,
                    redirectURI: order.redirectURI,
                    nonce: nonce,
                    issuedSeconds: issued
                ),
                as: digest
            )
            return grant
        }
        let claims = AppleIDClaims(
            subject: grant.subject,
            audience: clientID,
            issuedSeconds: issued,
            lifetimeSeconds: configuration.idTokenLifetimeSeconds,
            nonce: nonce,
            bound: (code: code, accessToken: nil)
        )
        return AppleSignIn(
            code: code,
            idToken: try signingKeys.sign(claims),
            subject: grant.subject,
            rawNonce: rawNonce
        )
    }

    /// Makes refresh tokens of `count` users, named `userPrefix` and a number from 1.
    func issueRefreshTokens(
        count: Int,
        clientID: String?,
        userPrefix: String
    ) throws(SandboxError) -> [AppleIssuedToken] {
        // Bounded, since one answer carries them all.
        guard (1...100_000).contains(count) else {
            throw SandboxError(.badRequest, cannot: "issue refresh tokens", at: "count")
        }
        let (clientID, _) = try resolve(userPrefix, clientID)
        let teamID = clients.team(of: clientID) ?? ""
        let now = clock.nowSeconds
        let tokens = (0..<count).map { _ in TokenGenerator.token("r") }
        return try state.withLock { state throws(SandboxError) in
            guard state.refreshTokensFree >= count else {
                throw SandboxError(.full, cannot: "issue refresh tokens", at: clientID)
            }
            var issued: [AppleIssuedToken] = []
            issued.reserveCapacity(count)
            for (index, token) in tokens.enumerated() {
                let key = AppleState.GrantKey(user: "\(userPrefix)\(index + 1)", teamID: teamID)
                let grant = try state.authorize(key)
                state.addToken(
                    AppleState.Token(
                        kind: .refresh,
                        grant: key,
                        generation: grant.generation,
                        clientID: clientID,
                        issuedSeconds: now
                    ),
                    as: TokenDigest(token)
                )
                issued.append(
                    AppleIssuedToken(user: key.user, subject: grant.subject, refreshToken: token)
                )
            }
            return issued
        }
    }

    /// Lets the user cut the authorization, or close the whole account at Apple.
    ///
    /// - Returns: The notification that Apple would send.
    func withdraw(
        user: String,
        clientID: String?,
        event: AppleNotification.Event
    ) throws -> AppleNotification {
        let (clientID, key) = try resolve(user, clientID)
        guard let subject = state.withLock({ $0.withdraw(key) }) else {
            throw SandboxError(
                .badRequest,
                cannot: "withdraw consent",
                at: clientID,
                cause: "never signed in"
            )
        }
        let now = clock.nowMilliseconds
        let inner = AppleEventClaims.Event(type: event.rawValue, sub: subject, eventTime: now)
        let events = String(decoding: try JSONEncoder().encode(inner), as: UTF8.self)
        let claims = AppleEventClaims(
            aud: clientID,
            iat: now / 1000,
            exp: now / 1000 + 86_400,
            jti: TokenGenerator.token("j"),
            events: events
        )
        return AppleNotification(payload: try signingKeys.sign(claims))
    }

    /// The authorizations of one user, or of all.
    func grants(user: String?) -> [AppleGrant] {
        state.withLock { $0.listing(user: user) }
    }

    private func resolve(
        _ user: String,
        _ clientID: String?
    ) throws(SandboxError) -> (clientID: String, key: AppleState.GrantKey) {
        guard let clientID = clientID ?? clients.defaultClientID,
            let teamID = clients.team(of: clientID)
        else {
            throw SandboxError(.badRequest, cannot: "find client", at: clientID ?? "default")
        }
        return (clientID, AppleState.GrantKey(user: user, teamID: teamID))
    }
}
