import NIOCore

/// A sandbox that takes calls, and the commands to it; the admin routes do the same over HTTP.
package final class RunningSandbox: Sendable {
    struct Parts: Sendable {
        let port: Int
        let authorityPEM: String
        let keyPEM: String
        let directory: SandboxDirectory
        let service: SandboxService
        let channel: any Channel
        let connections: OpenConnections
    }

    private let parts: Parts

    init(parts: Parts) {
        self.parts = parts
    }

    /// The port at 127.0.0.1.
    package var port: Int { parts.port }
    /// What a client uses as `base_url`: `https://localhost:PORT`.
    package var baseURL: String { "https://localhost:\(parts.port)" }
    /// What a client must trust, as PEM.
    package var authorityPEM: String { parts.authorityPEM }
    /// What a client must trust, as a file (`ca_file`).
    package var authorityFile: String { parts.directory.file("ca.pem") }
    /// The directory of `ca.pem`, `apple-key.p8`, `endpoint` and `logs.jsonl`.
    package var directory: String { parts.directory.path }
    /// The .p8 that signs client secrets, unless the configuration brought its own key.
    package var appleKeyPEM: String { parts.keyPEM }
    /// The .p8 as a file.
    package var appleKeyFile: String { parts.directory.file("apple-key.p8") }

    /// Signs a user in with Apple.
    ///
    /// - Parameters:
    ///   - user: A name of your own for the user.
    ///   - clientID: The client; the first by name if `nil`.
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
        try apple.signIn(
            AppleFamily.SignInOrder(
                user: user,
                clientID: clientID,
                rawNonce: rawNonce,
                redirectURI: redirectURI,
                issuedSeconds: parts.service.admin.clock.nowSeconds - age.components.seconds
            )
        )
    }

    /// Makes refresh tokens without sign-ins, for users named `userPrefix` and a number from 1.
    ///
    /// - Parameters:
    ///   - count: 1 to 100,000.
    ///   - clientID: The client; the first by name if `nil`.
    ///   - userPrefix: The beginning of the users' names.
    /// - Returns: The tokens, in the order of their users.
    /// - Throws: ``SandboxError`` when the client is unknown or the sandbox full.
    package func issueRefreshTokens(
        count: Int,
        clientID: String? = nil,
        userPrefix: String = "user-"
    ) throws -> [AppleIssuedToken] {
        try apple.issueRefreshTokens(count: count, clientID: clientID, userPrefix: userPrefix)
    }

    /// Lets the user cut the authorization at Apple, and returns the notification that Apple sends.
    ///
    /// - Parameters:
    ///   - user: The name used at the sign-in.
    ///   - clientID: The client; the first by name if `nil`.
    ///   - event: What happened.
    /// - Returns: The notification, to be forwarded or not.
    /// - Throws: ``SandboxError`` when the user never signed in.
    package func withdrawConsent(
        user: String,
        clientID: String? = nil,
        event: AppleNotification.Event = .consentRevoked
    ) throws -> AppleNotification {
        try apple.withdraw(user: user, clientID: clientID, event: event)
    }

    /// The authorizations of one user, or of all when `user` is `nil`.
    package func grants(user: String? = nil) -> [AppleGrant] {
        apple.grants(user: user)
    }

    /// Whether the user's authorization stands; `nil` when there never was one.
    package func grantState(user: String) -> AppleGrant.State? {
        apple.grants(user: user).first?.state
    }

    /// Registers clients of a team with one of its keys.
    ///
    /// - Parameters:
    ///   - teamID: The team.
    ///   - keyID: The `kid` of the client secrets.
    ///   - keyPEM: A P-256 key, public or private.
    ///   - clientIDs: The clients.
    /// - Throws: ``SandboxError`` when the key cannot be used.
    package func registerClients(
        teamID: String,
        keyID: String,
        keyPEM: String,
        clientIDs: [String]
    ) throws {
        try apple.register(teamID: teamID, keyID: keyID, keyPEM: keyPEM, clientIDs: clientIDs)
    }

    /// The calls after a sequence number, oldest first.
    package func log(after sequence: UInt64 = 0) -> [CallRecord] {
        parts.service.admin.journal.records(after: sequence)
    }

    /// Starts a fault plan; its calls are counted from now on.
    package func inject(_ plan: FaultPlan) {
        parts.service.faults.start(plan)
    }

    /// Fails the next `count` calls to one endpoint in one way.
    package func inject(_ kind: FaultKind, at endpoint: SandboxEndpoint, count: Int = 1) {
        inject(FaultPlan(rate: 1, kinds: [kind], endpoints: [endpoint], limit: count))
    }

    /// Moves the sandbox's clock away from the machine's by `offset`.
    package func setClockOffset(_ offset: Duration) {
        let (seconds, attoseconds) = offset.components
        parts.service.admin.clock.setOffset(
            milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000
        )
    }

    /// Makes a new key sign id tokens; with `withdrawingOld` only that key is still published.
    ///
    /// - Parameter withdrawingOld: Whether tokens signed before become unverifiable.
    /// - Returns: The key ids that are published now.
    /// - Throws: ``SandboxError`` when no key can be made.
    package func rotateKeys(withdrawingOld: Bool = false) throws -> [String] {
        let kids = try apple.signingKeys.rotate()
        return withdrawingOld ? apple.signingKeys.withdrawOldKeys() : kids
    }

    /// Stops listening, closes every connection and takes `endpoint` away.
    ///
    /// - Throws: ``SandboxError`` when the log file is not complete or the directory cannot be
    ///   cleaned; a channel error when it is called twice.
    package func shutdown() async throws {
        try await parts.channel.close().get()
        parts.connections.closeAll()
        try parts.directory.retire()
        if let failure = parts.service.admin.journal.failure {
            throw failure
        }
    }

    var families: SandboxFamilies { parts.service.admin.families }

    private var apple: AppleFamily { families.apple }
}
