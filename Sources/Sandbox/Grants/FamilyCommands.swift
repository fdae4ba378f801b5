/// What the admin routes and tests make happen on the users' and on a provider's side.
protocol FamilyCommands: Sendable {
    var name: String { get }

    /// Registers a client, or replaces it.
    func register(_ registration: ClientRegistration) throws(SandboxError)

    /// The clients, and where their calls go.
    func clientList() -> [SandboxClient]

    /// Signs a user in.
    func signIn(_ order: SandboxOrder.SignIn) throws -> SandboxSignIn

    /// Makes tokens of many users, named by a prefix and a number from 1.
    func issueTokens(_ order: SandboxOrder.Tokens) throws -> [SandboxToken]

    /// Lets the user, or the provider, end something; answers what the provider would send.
    func withdraw(_ order: SandboxOrder.Withdrawal) throws -> SandboxNotification?

    /// The authorizations of one user, or of all.
    func grants(user: String?) -> [SandboxGrant]

    /// The users who have a token that nothing but its age may have ended.
    func usersWithTokens() -> Set<String>

    /// Makes a new key sign id tokens and notifications.
    func rotateKeys(withdrawingOld: Bool) throws -> [String]
}
