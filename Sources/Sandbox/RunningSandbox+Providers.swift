/// The commands to every provider but Apple.
extension RunningSandbox {
    /// What a client uses as `base_url` of a provider.
    package func baseURL(of provider: SandboxProvider) -> String {
        provider == .apple ? baseURL : "\(baseURL)/\(provider.rawValue)"
    }

    /// Signs a user in.
    ///
    /// - Parameters:
    ///   - order: Who, and with which client.
    ///   - provider: Any but Apple.
    /// - Returns: What the application holds afterwards.
    /// - Throws: ``SandboxError`` when the client is unknown or the sandbox full.
    package func signIn(
        _ order: SandboxOrder.SignIn,
        at provider: SandboxProvider
    ) throws -> SandboxSignIn {
        try families.commands(of: provider).signIn(order)
    }

    /// Makes tokens without sign-ins.
    ///
    /// - Parameters:
    ///   - order: How many, and for which client.
    ///   - provider: Any but Apple.
    /// - Returns: The tokens, in the order of their users.
    /// - Throws: ``SandboxError`` when the client is unknown or the sandbox full.
    package func issueTokens(
        _ order: SandboxOrder.Tokens = SandboxOrder.Tokens(),
        at provider: SandboxProvider
    ) throws -> [SandboxToken] {
        try families.commands(of: provider).issueTokens(order)
    }

    /// Lets the user, or the provider, end something.
    ///
    /// - Parameters:
    ///   - order: Whose, and what.
    ///   - provider: Any but Apple.
    /// - Returns: What the provider would send to the application; `nil` where it sends nothing.
    /// - Throws: ``SandboxError`` when the user never signed in or the event is unknown.
    package func withdraw(
        _ order: SandboxOrder.Withdrawal,
        at provider: SandboxProvider
    ) throws -> SandboxNotification? {
        try families.commands(of: provider).withdraw(order)
    }

    /// The authorizations at a provider of one user, or of all when `user` is `nil`.
    ///
    /// - Throws: ``SandboxError`` for Apple.
    package func grants(
        at provider: SandboxProvider,
        user: String? = nil
    ) throws -> [SandboxGrant] {
        try families.commands(of: provider).grants(user: user)
    }

    /// The users who have a token at a provider that nothing but its age may have ended: what a
    /// test of revocations is judged by.
    ///
    /// - Throws: ``SandboxError`` for Apple, where a token stands and falls with the grant.
    package func usersWithTokens(at provider: SandboxProvider) throws -> Set<String> {
        try families.commands(of: provider).usersWithTokens()
    }

    /// Registers a client with a provider, or replaces it.
    ///
    /// - Throws: ``SandboxError`` for Apple, or when a key cannot be read.
    package func register(
        _ registration: ClientRegistration,
        at provider: SandboxProvider
    ) throws {
        try families.commands(of: provider).register(registration)
    }

    /// Makes a new key of a provider sign id tokens and notifications.
    ///
    /// - Throws: ``SandboxError`` for Apple, or when no key can be made.
    package func rotateKeys(
        at provider: SandboxProvider,
        withdrawingOld: Bool = false
    ) throws -> [String] {
        try families.commands(of: provider).rotateKeys(withdrawingOld: withdrawingOld)
    }

    /// Fails the next `count` calls to one endpoint of one provider in one way.
    package func inject(
        _ kind: FaultKind,
        at endpoint: SandboxEndpoint,
        of provider: SandboxProvider,
        count: Int = 1
    ) {
        var plan = FaultPlan(rate: 1, kinds: [kind], endpoints: [endpoint], limit: count)
        plan.providers = [provider]
        inject(plan)
    }
}
