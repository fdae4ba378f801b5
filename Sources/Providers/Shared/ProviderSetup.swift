import Engine
package import HTTP
package import Lifecycle
import Settings

/// What the adapter of a provider is made with, besides its kind.
package struct ProviderSetup: Sendable {
    package let provider: ProviderConfiguration
    let environment: AdapterEnvironment

    package init(_ provider: ProviderConfiguration, in environment: AdapterEnvironment) {
        (self.provider, self.environment) = (provider, environment)
    }

    var name: ProviderName { provider.name }
    var clientIDs: [String] { provider.clientIDs }
    /// Of a kind that has one client.
    var clientID: String { clientIDs.first ?? "" }

    var http: RemoteSettings {
        var settings = RemoteSettings(
            owner: .provider(name),
            allowsPlainLoopback: provider.connection.allowsPlainHTTP,
            caFile: provider.connection.caFile,
            concurrency: provider.concurrency
        )
        settings.timeoutConnect = provider.connection.timeoutConnect
        settings.timeoutTotal = provider.connection.timeoutTotal
        return settings
    }

    /// One call at a time; the provider's own connections are not touched.
    var notificationHTTP: RemoteSettings {
        var settings = http
        settings.concurrency = 1
        return settings
    }

    /// Reads a client secret from a credential: one line, whose end an editor may have added.
    ///
    /// - Throws: Why it cannot be read; an empty one is refused.
    package func secret(_ credential: String) throws -> Secret {
        let secret = try environment.line(credential, of: .provider(name))
        guard secret.count > 0 else { throw EmptyCredential(name: credential, provider: name) }
        return secret
    }

    func signer(_ credential: String, _ algorithm: SigningAlgorithm) throws -> any MessageSigner {
        let pem = try environment.credential(credential, of: .provider(name))
        return try environment.signer(pem, credential, algorithm)
    }

    func signer(with secret: Secret) throws -> any MessageSigner {
        try environment.signer(secret, "", .hs256)
    }

    func keys(at url: String) throws(SetupError) -> PublishedKeys {
        try PublishedKeys(at: url, notificationHTTP, in: environment)
    }
}

private struct EmptyCredential: Error, CustomStringConvertible {
    let name: String
    let provider: ProviderName

    var description: String {
        "cannot read credential '\(name)' of provider '\(provider)': it is empty"
    }
}
