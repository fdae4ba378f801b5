/// The providers that the sandbox plays.
package enum SandboxProvider: String, CaseIterable, Codable, Sendable {
    /// Sign in with Apple, at the root of the sandbox.
    case apple
    case oauth2
    case google
    /// Facebook, with Limited Login.
    case facebook
    /// Microsoft, with Entra tenants, personal accounts and Graph.
    case microsoft
    case github
    /// X, with OAuth 2 and OAuth 1.0a.
    case x
}
