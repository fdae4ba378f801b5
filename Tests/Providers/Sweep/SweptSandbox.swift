import Engine
import Lifecycle
import Sandbox
import TestSupport

@testable import Providers

/// What one user holds at a provider when the application stores it.
struct SweptCredential: Sendable {
    let kind: CredentialKind
    let secret: Secret
    var verifier: Secret?
}

/// Where a sweep takes users from, and who judges it.
protocol SweptWorld: Sendable {
    /// A sign-in; a code where the provider has codes.
    func signIn(_ user: String) throws -> (credentials: [SweptCredential], subject: Secret?)

    /// The tokens of a user without an exchange.
    func tokens(_ user: String) throws -> (credentials: [SweptCredential], subject: Secret?)

    /// The user, or the provider, ends everything.
    func withdraw(_ user: String) throws

    /// From now on one call in five fails in one way.
    func fail(_ kind: FaultKind, seed: UInt64)

    /// The users whose authorization stands, and those who have a token that was never ended.
    func survivors() throws -> (grants: Set<String>, tokens: Set<String>)

    /// How many calls have failed on purpose.
    var faultCount: Int { get }
}

/// The stand-in of one family.
struct SweptSandbox: SweptWorld {
    static let redirectURI = "https://app.example.com/callback"

    let provider: SweptProvider
    let sandbox: RunningSandbox

    func signIn(_ user: String) throws -> (credentials: [SweptCredential], subject: Secret?) {
        if provider == .apple {
            let signIn = try sandbox.signIn(user: user, redirectURI: Self.redirectURI)
            let code = SweptCredential(kind: .authorizationCode, secret: Secret(signIn.code))
            return ([code], nil)
        }
        let signIn = try order(user)
        if let code = signIn.code {
            let credential = SweptCredential(
                kind: .authorizationCode,
                secret: Secret(code),
                verifier: signIn.codeVerifier.map { Secret($0) }
            )
            return ([credential], nil)
        }
        guard let idToken = signIn.idToken else { return try tokens(user) }
        return ([SweptCredential(kind: .idToken, secret: Secret(idToken))], Secret(signIn.subject))
    }

    func tokens(_ user: String) throws -> (credentials: [SweptCredential], subject: Secret?) {
        switch provider {
        case .apple:
            let prefix = String(user.dropLast())
            let tokens = try sandbox.issueRefreshTokens(count: 1, userPrefix: prefix)
            return (
                tokens.map {
                    SweptCredential(kind: .refreshToken, secret: Secret($0.refreshToken))
                }, nil
            )
        case .facebookLimited: return try signIn(user)
        default: break
        }
        guard let sandboxed = provider.sandbox else { return ([], nil) }
        var order = SandboxOrder.Tokens()
        order.clientID = provider.clientID
        order.realm = provider.realm
        // The stand-in appends the number of the user, which is 1.
        order.userPrefix = String(user.dropLast())
        var credentials: [SweptCredential] = []
        var subject: Secret?
        for token in try sandbox.issueTokens(order, at: sandboxed) {
            subject = Secret(token.subject)
            if let refresh = token.refreshToken {
                credentials.append(
                    SweptCredential(kind: .refreshToken, secret: Secret(refresh))
                )
            }
            let access = token.accessToken + (token.tokenSecret.map { ":\($0)" } ?? "")
            credentials.append(SweptCredential(kind: .accessToken, secret: Secret(access)))
        }
        if provider == .microsoft { subject = try microsoftSubject(user) }
        return (credentials, subject)
    }

    /// Graph knows users by their object id, which comes in id tokens.
    private func microsoftSubject(_ user: String) throws -> Secret? {
        try order(user).idToken.flatMap { IDToken(Secret($0)) }.flatMap { MicrosoftID($0) }?.subject
    }

    private func order(_ user: String) throws -> SandboxSignIn {
        var order = SandboxOrder.SignIn(user: user)
        order.clientID = provider.clientID
        order.realm = provider.realm
        order.redirectURI = Self.redirectURI
        guard let sandboxed = provider.sandbox else { preconditionFailure("has no stand-in") }
        return try sandbox.signIn(order, at: sandboxed)
    }

    func withdraw(_ user: String) throws {
        guard provider != .apple, let sandboxed = provider.sandbox else {
            _ = try sandbox.withdrawConsent(user: user)
            return
        }
        var order = SandboxOrder.Withdrawal(user: user)
        order.clientID = provider.clientID
        order.realm = provider.realm
        _ = try sandbox.withdraw(order, at: sandboxed)
    }

    func fail(_ kind: FaultKind, seed: UInt64) {
        var plan = FaultPlan(rate: 0.2, kinds: [kind], seed: seed)
        plan.delayMilliseconds = 5
        sandbox.inject(plan)
    }

    func survivors() throws -> (grants: Set<String>, tokens: Set<String>) {
        guard provider != .apple, let sandboxed = provider.sandbox else {
            let live = Set(sandbox.grants(at: .apple).filter { $0.state == .live }.map(\.user))
            return (live, live)
        }
        let grants = sandbox.grants(at: sandboxed).filter { $0.state == .live }.map(\.user)
        return (Set(grants), sandbox.usersWithTokens(at: sandboxed))
    }

    var faultCount: Int { sandbox.log().count { $0.fault != nil } }
}
