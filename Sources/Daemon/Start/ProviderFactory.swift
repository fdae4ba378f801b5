import Engine
import HTTP
import Lifecycle
import Logging
import NIOCore
import Providers
import Settings
import Systemd
import Vault

/// Makes the adapter of one provider out of its section and its credentials.
///
/// One function per family, each in a file of its own; a new family adds its line here.
struct ProviderFactory: Sendable {
    let credentials: CredentialDirectory?
    let eventLoopGroup: any EventLoopGroup
    let now: @Sendable () -> WallTime
    let logger: Logger

    /// Makes the adapter.
    ///
    /// - Throws: What keeps the provider from being set up, in one line.
    func make(_ provider: ProviderConfiguration) throws -> any ConnectedProvider {
        switch provider.kind {
        case .apple(let apple): try makeApple(provider, apple)
        case .facebook(let facebook): try makeFacebook(provider, facebook)
        case .microsoft(let microsoft): try makeMicrosoft(provider, microsoft)
        case .github(let github): try makeGitHub(provider, github)
        case .x(let x): try makeX(provider, x)
        case .command(let command): try makeCommand(provider, command)
        case .google(let google): try makeGoogle(provider, google)
        case .oauth2(let oauth2): try makeOAuth2(provider, oauth2)
        }
    }

    /// How every family reaches its hosts.
    func http(_ provider: ProviderConfiguration) -> RemoteSettings {
        var settings = RemoteSettings(
            name: provider.name,
            allowsPlainLoopback: provider.connection.allowsPlainHTTP,
            caFile: provider.connection.caFile,
            concurrency: provider.concurrency
        )
        settings.timeoutConnect = provider.connection.timeoutConnect
        settings.timeoutTotal = provider.connection.timeoutTotal
        return settings
    }

    /// Loads a private key from a credential.
    ///
    /// - Throws: ``DaemonError`` or ``Vault/VaultSetupError`` for a credential that is missing or
    ///   is no such key.
    func signingKey(
        _ name: String,
        _ algorithm: SigningAlgorithm,
        of provider: ProviderConfiguration
    ) throws -> SigningKey {
        try SigningKey(
            pem: try credential(name, of: provider),
            credential: name,
            algorithm: algorithm
        )
    }

    /// Reads a client secret from a credential: one line, whose end an editor may have added.
    ///
    /// - Throws: ``DaemonError`` or what the directory throws for a credential that cannot be read,
    ///   or is empty.
    func clientSecret(_ name: String, of provider: ProviderConfiguration) throws -> Secret {
        // The copy is made inside: the lent array is overwritten together with its owner, and an
        // array of a slice that spans all of it would be that very array.
        let line = try credential(name, of: provider).withBytes { bytes in
            var line = bytes[...]
            while let last = line.last, [0x0a, 0x0d].contains(last) { line.removeLast() }
            return Secret(Array(line))
        }
        guard line.count > 0 else { throw unreadable(name, of: provider, "it is empty") }
        return line
    }

    private func credential(_ name: String, of provider: ProviderConfiguration) throws -> Secret {
        guard let credentials else {
            throw unreadable(
                name,
                of: provider,
                "no credentials directory ($CREDENTIALS_DIRECTORY, --credentials-directory)"
            )
        }
        return try credentials.read(name)
    }

    private func unreadable(
        _ name: String,
        of provider: ProviderConfiguration,
        _ cause: String
    ) -> DaemonError {
        DaemonError(
            .credential,
            ["cannot read credential '\(name)' of provider '\(provider.name)': \(cause)"]
        )
    }
}
