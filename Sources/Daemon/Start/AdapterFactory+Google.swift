import Engine
import HTTP
import Providers
import Settings
import Stores

extension AdapterFactory {
    /// A store or directory of Google's, and the client to shut down with it.
    struct GoogleMade<Made: Sendable>: Sendable {
        let made: Made
        let client: GoogleClient
    }

    /// Makes the directory.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    func make(
        _ directory: DirectoryConfiguration
    ) async throws -> GoogleMade<any IdentityDirectory> {
        let (accounts, client) = try await accounts(
            directory.access,
            for: .directory(directory.name),
            IdentityToolkit.Place(
                baseURL: directory.access.baseURL,
                project: directory.project,
                tenant: directory.tenant
            )
        )
        return GoogleMade(
            made: FirebaseDirectory(
                name: directory.name,
                accounts: accounts,
                providers: directory.providers
            ),
            client: client
        )
    }

    /// Makes a target of accounts.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    func make(
        _ target: TargetConfiguration,
        _ firebase: FirebaseAuthTargetConfiguration
    ) async throws -> GoogleMade<any PurgeTarget> {
        let (accounts, client) = try await accounts(
            firebase.access,
            for: .target(target.name),
            IdentityToolkit.Place(
                baseURL: firebase.access.baseURL,
                project: firebase.project,
                tenant: firebase.tenant,
                isEmulator: firebase.access.isEmulator
            )
        )
        return GoogleMade(
            made: FirebaseAuthTarget(
                name: target.name,
                accounts: accounts,
                clock: .system(wall: now)
            ),
            client: client
        )
    }

    private func accounts(
        _ access: GoogleAccess,
        for owner: RemoteOwner,
        _ place: IdentityToolkit.Place
    ) async throws -> (IdentityToolkit, GoogleClient) {
        let google = try googleFactory.make(access, for: owner, scopes: [IdentityToolkit.scope]) {
            $0.answerMax = IdentityToolkit.answerMax
        }
        do {
            let accounts = try IdentityToolkit(
                place,
                client: google.client,
                settings: google.settings
            )
            return (accounts, google.client)
        } catch {
            await google.client.shutdown()
            throw error
        }
    }

    var googleFactory: GoogleFactory {
        GoogleFactory(
            credentials: credentials,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }
}
