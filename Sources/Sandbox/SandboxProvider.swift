/// The providers that the sandbox plays.
package enum SandboxProvider: String, CaseIterable, Codable, Sendable {
    /// Sign in with Apple, at the root of the sandbox.
    case apple
    /// A generic OAuth 2 server.
    case oauth2
    /// Google.
    case google
    /// Facebook, with Limited Login.
    case facebook
    /// Microsoft, with Entra tenants, personal accounts and Graph.
    case microsoft
    /// GitHub.
    case github
    /// X, with OAuth 2 and OAuth 1.0a.
    case x
}
