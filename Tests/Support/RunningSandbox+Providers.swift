@testable package import Sandbox

/// The commands to the sandbox and to every provider; the admin routes do the same over HTTP.
extension RunningSandbox {
    package func baseURL(of provider: SandboxProvider) -> String {
        families.family(provider).baseURL
    }

    package func log(after sequence: UInt64 = 0) -> [CallRecord] {
        admin.tools.journal.records(after: sequence)
    }

    /// Starts a fault plan; its calls are counted from now on.
    package func inject(_ plan: FaultPlan) { admin.faults.start(plan) }

    /// Fails the next `count` calls to one endpoint, of one provider or of all, in one way.
    package func inject(
        _ kind: FaultKind,
        at endpoint: SandboxEndpoint,
        of provider: SandboxProvider? = nil,
        count: Int = 1
    ) {
        var plan = FaultPlan(rate: 1, kinds: [kind], endpoints: [endpoint], limit: count)
        plan.providers = provider.map { [$0] }
        inject(plan)
    }

    /// Moves the sandbox's clock away from the machine's by `offset`.
    package func setClockOffset(_ offset: Duration) {
        let (seconds, attoseconds) = offset.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        admin.tools.clock.setOffset(milliseconds: milliseconds)
    }

    /// Signs a user in.
    ///
    /// - Returns: What the application holds afterwards.
    /// - Throws: ``SandboxError`` when the client is unknown or the sandbox full.
    package func signIn(
        _ order: SandboxOrder.SignIn,
        at provider: SandboxProvider
    ) throws -> SandboxSignIn {
        try families.family(provider).signIn(order)
    }

    /// Makes tokens without sign-ins, in the order of their users.
    ///
    /// - Throws: ``SandboxError`` when the client is unknown or the sandbox full.
    package func issueTokens(
        _ order: SandboxOrder.Tokens = SandboxOrder.Tokens(),
        at provider: SandboxProvider
    ) throws -> [SandboxToken] {
        try families.family(provider).issueTokens(order)
    }

    /// Lets the user, or the provider, end something.
    ///
    /// - Returns: What the provider would send to the application; `nil` where it sends nothing.
    /// - Throws: ``SandboxError`` when the user never signed in or the event is unknown.
    package func withdraw(
        _ order: SandboxOrder.Withdrawal,
        at provider: SandboxProvider
    ) throws -> SandboxNotification? {
        try families.family(provider).withdraw(order)
    }

    /// The authorizations at a provider of one user, or of all when `user` is `nil`.
    package func grants(at provider: SandboxProvider, user: String? = nil) -> [SandboxGrant] {
        families.family(provider).grants(user: user)
    }

    /// The users who have a token at a provider that nothing but its age may have ended: what a
    /// test of revocations is judged by.
    package func usersWithTokens(at provider: SandboxProvider) -> Set<String> {
        Set(grants(at: provider).filter { $0.liveTokens > 0 }.map(\.user))
    }

    /// Registers a client with a provider, or replaces it.
    ///
    /// - Throws: ``SandboxError`` when a key cannot be read.
    package func register(_ registration: ClientRegistration, at provider: SandboxProvider) throws {
        try families.family(provider).clients.register(registration)
    }

    /// Makes a new key of a provider sign id tokens and notifications.
    ///
    /// - Returns: The key ids that are published now; only that key's without the old ones.
    /// - Throws: ``SandboxError`` when no key can be made.
    package func rotateKeys(
        at provider: SandboxProvider,
        withdrawingOld: Bool = false
    ) throws -> [String] {
        try families.family(provider).rotateKeys(withdrawingOld: withdrawingOld)
    }
}

extension FaultKind {
    /// Whether the provider did its work before the caller was failed.
    package var acts: Bool {
        switch self {
        case .delay, .truncated, .wrongContentType, .responseLost: true
        case .timeout, .reset, .throttled, .unavailable, .serverError, .html, .forbidden: false
        }
    }
}
