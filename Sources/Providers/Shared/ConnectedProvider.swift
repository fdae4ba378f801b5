package import Engine

/// A provider that holds connections, and uses the event loops of its caller until it is shut down.
package protocol ConnectedProvider: IdentityProvider {
    /// Closes all connections; must be called before the provider is released.
    func shutdown() async
}

/// A provider without id tokens.
protocol TokenOnlyProvider: ConnectedProvider {}

extension TokenOnlyProvider {
    package var issuesIDTokens: Bool { false }

    /// - Throws: ``SignInError`` of kind `unsupported`, always.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        throw SignInError(kind: .unsupported, provider: name)
    }
}
