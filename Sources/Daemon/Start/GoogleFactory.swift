import Engine
import HTTP
import Lifecycle
import Logging
import NIOCore
import Settings
import Systemd
import Vault

/// Makes clients for Google's interfaces out of the settings that all of them share.
struct GoogleFactory: Sendable {
    let credentials: CredentialDirectory?
    let eventLoopGroup: any EventLoopGroup
    let now: @Sendable () -> WallTime
    let logger: Logger

    /// A client and what it was made with.
    struct Made: Sendable {
        let client: GoogleClient
        let settings: RemoteSettings
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - access: How to get there.
    ///   - owner: Whose client it is.
    ///   - scopes: What its tokens are for.
    ///   - adjust: Changes the settings of the connection.
    /// - Returns: The client, to be shut down by the caller.
    /// - Throws: What keeps it from being set up, in one line.
    func make(
        _ access: GoogleAccess,
        for owner: RemoteOwner,
        scopes: [String],
        adjust: (inout RemoteSettings) -> Void = { _ in }
    ) throws -> Made {
        var settings = RemoteSettings(
            owner: owner,
            allowsPlainLoopback: access.connection.allowsPlainHTTP,
            caFile: access.connection.caFile
        )
        settings.timeoutConnect = access.connection.timeoutConnect
        settings.timeoutTotal = access.connection.timeoutTotal
        adjust(&settings)
        // Everything that can fail comes before the client, which must be shut down once it is.
        let account = try access.keyCredential.map { try key($0, of: owner) }
        let remote = try RemoteClient(settings, eventLoopGroup: eventLoopGroup, logger: logger)
        let tokens: ServiceAccountTokenSource
        if let account {
            tokens = try ServiceAccountTokenSource(
                account.key,
                signer: account.signer,
                scopes: scopes,
                client: remote,
                settings: settings,
                now: now
            )
        } else {
            tokens = ServiceAccountTokenSource(emulatorWith: now)
        }
        return Made(
            client: GoogleClient(client: remote, tokens: tokens, now: now),
            settings: settings
        )
    }

    private func key(
        _ name: String,
        of owner: RemoteOwner
    ) throws -> (key: ServiceAccountKey, signer: SigningKey) {
        guard let credentials else {
            throw DaemonError(
                .credential,
                [
                    "cannot read credential '\(name)' of \(owner.role) '\(owner.name)': no"
                        + " credentials directory ($CREDENTIALS_DIRECTORY, --credentials-directory)"
                ]
            )
        }
        let key = try ServiceAccountKey(file: try credentials.read(name), of: owner)
        let signer = try SigningKey(pem: key.privateKey, credential: name, algorithm: .rs256)
        return (key, signer)
    }
}
