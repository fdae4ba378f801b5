package import Engine

/// A provider that holds connections and must be shut down before it is released.
package protocol ConnectedProvider: IdentityProvider {
    /// Closes all connections; must be called before the provider is released.
    func shutdown() async
}
