import Engine
import Lifecycle
import Logging
import NIOPosix
import Sandbox
import Synchronization
import TestSupport
import Vault

@testable import HTTP

/// A stand-in for Google and a client that speaks to it, shut down afterwards.
struct CloudBench: Sendable {
    let sandbox: RunningSandbox
    let client: RemoteClient
    let settings: RemoteSettings
    let clock: ShiftedClock

    static func with(_ body: (CloudBench) async throws -> Void) async throws {
        let clock = ShiftedClock()
        var configuration = SandboxConfiguration()
        configuration.wallMilliseconds = { clock.now().unixMilliseconds }
        let sandbox = try await SandboxServer.start(configuration: configuration)
        var settings = RemoteSettings(owner: .store(StoreName("accounts")))
        settings.caFile = sandbox.authorityFile
        settings.timeoutConnect = .seconds(120)
        settings.timeoutTotal = .seconds(120)
        let client = try RemoteClient(
            settings,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test")
        )
        let bench = CloudBench(sandbox: sandbox, client: client, settings: settings, clock: clock)
        do {
            try await body(bench)
        } catch {
            await client.shutdown()
            try await sandbox.shutdown()
            throw error
        }
        await client.shutdown()
        try await sandbox.shutdown()
    }

    func source() throws -> ServiceAccountTokenSource {
        let key = try ServiceAccountKey(
            file: Secret(try sandbox.serviceAccountKeyFile()),
            of: settings.owner
        )
        return try ServiceAccountTokenSource(
            key,
            signer: try SigningKey(pem: key.privateKey, credential: "key", algorithm: .rs256),
            scopes: [IdentityToolkit.scope],
            client: client,
            settings: settings,
            now: { clock.now() }
        )
    }

    func accounts() throws -> IdentityToolkit {
        try IdentityToolkit(
            IdentityToolkit.Place(
                baseURL: sandbox.baseURL + "/cloud/identitytoolkit",
                project: "example-project"
            ),
            client: GoogleClient(client: client, tokens: try source(), now: { clock.now() }),
            settings: settings
        )
    }

    /// How often a token was fetched.
    var fetchCount: Int { sandbox.log().count { $0.endpoint == .token } }
}

/// A clock for both sides that a test moves.
final class ShiftedClock: Sendable {
    private let time = Mutex(WallTime(unixMilliseconds: 1_800_000_000_000))

    func now() -> WallTime { time.withLock { $0 } }

    func move(by span: Duration) { time.withLock { $0 = $0 + span } }
}
