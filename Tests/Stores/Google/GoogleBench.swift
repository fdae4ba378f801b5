import Engine
import Lifecycle
import Logging
import NIOPosix
import Sandbox
import TestSupport
import Testing

@testable import HTTP
@testable import Stores

/// A stand-in for Google and a client that speaks to it, shut down afterwards.
struct GoogleBench: Sendable {
    static let now = WallTime(unixMilliseconds: 1_800_000_000_000)

    let sandbox: RunningSandbox
    let client: GoogleClient
    let settings: RemoteSettings

    static func with(
        _ configure: (inout SandboxConfiguration) -> Void = { _ in },
        _ body: (GoogleBench) async throws -> Void
    ) async throws {
        var configuration = SandboxConfiguration()
        configuration.wallMilliseconds = { now.unixMilliseconds }
        configure(&configuration)
        let sandbox = try await SandboxServer.start(configuration: configuration)
        var settings = RemoteSettings(owner: .store(StoreName("cloud")))
        settings.caFile = sandbox.authorityFile
        settings.timeoutConnect = .seconds(120)
        settings.timeoutTotal = .seconds(120)
        settings.answerMax = 1 << 20
        let remote = try RemoteClient(
            settings,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test")
        )
        let client = GoogleClient(
            client: remote,
            tokens: ServiceAccountTokenSource(emulatorWith: { now }),
            now: { now }
        )
        do {
            try await body(GoogleBench(sandbox: sandbox, client: client, settings: settings))
        } catch {
            await client.shutdown()
            try await sandbox.shutdown()
            throw error
        }
        await client.shutdown()
        try await sandbox.shutdown()
    }

    func session(
        _ rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> GoogleSession {
        GoogleSession(client: client, settings: settings, clock: Self.clock(rest))
    }

    /// The bench's time, with rests that a test can break.
    static func clock(
        _ rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> StoreClock {
        .patient(wall: now, rest: rest)
    }

    static func order(_ user: String, cutoff: WallTime = now) throws -> PurgeOrder {
        var random = SeededGenerator(seed: 1)
        return PurgeOrder(
            request: RequestID(TimeOrderedID(at: now, entropy: &random)),
            user: try #require(UserID(user)),
            cutoff: cutoff
        )
    }
}
