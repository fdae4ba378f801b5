import Engine
import Lifecycle
import Logging
import NIOPosix
import Sandbox
import TestSupport
import Testing

@testable import HTTP
@testable import Providers

@Suite("Firebase as directory")
struct FirebaseDirectoryTests {
    static func directory(
        _ sandbox: RunningSandbox,
        _ client: RemoteClient,
        _ settings: RemoteSettings
    ) throws -> FirebaseDirectory {
        let tokens = ServiceAccountTokenSource(emulatorWith: MachineClock.now)
        return FirebaseDirectory(
            name: ProviderName("firebase"),
            accounts: try IdentityToolkit(
                IdentityToolkit.Place(
                    baseURL: sandbox.baseURL + "/cloud/identitytoolkit",
                    project: "example-project"
                ),
                client: GoogleClient(client: client, tokens: tokens, now: MachineClock.now),
                settings: settings
            ),
            providers: ["apple.com": ProviderName("apple")]
        )
    }

    static func with(
        _ body: (FirebaseDirectory, RunningSandbox) async throws -> Void
    ) async throws {
        let sandbox = try await SandboxServer.start()
        var settings = RemoteSettings(owner: .directory(ProviderName("firebase")))
        settings.caFile = sandbox.authorityFile
        settings.timeoutConnect = .seconds(120)
        settings.timeoutTotal = .seconds(120)
        let client = try RemoteClient(
            settings,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test")
        )
        do {
            try await body(try directory(sandbox, client, settings), sandbox)
        } catch {
            await client.shutdown()
            try await sandbox.shutdown()
            throw error
        }
        await client.shutdown()
        try await sandbox.shutdown()
    }

    static func told(_ answer: DirectoryAnswer) -> [String] {
        switch answer {
        case .failure(let failure): [failure.code]
        case .links(let links):
            links.map { link in
                "\(link.provider) \(link.isLocal ? "local" : link.subject?.exposeText() ?? "-")"
            }
        }
    }

    @Test("every link is told: by its configured name, by Firebase's word, or as no link at all")
    func links() async throws {
        try await Self.with { directory, sandbox in
            sandbox.add(
                CloudAccount(
                    "u1",
                    links: [
                        .init("apple.com", rawID: "0001.a"), .init("github.com", rawID: "77"),
                        .init("oidc.example", rawID: "s"), .init("password", rawID: "m@x"),
                        .init("phone", rawID: "+1"),
                    ]
                )
            )
            let user = try #require(UserID("u1"))
            #expect(
                Self.told(await directory.links(of: user)) == [
                    "apple 0001.a", "github.com 77", "oidc.example s", "password local",
                    "phone local",
                ]
            )
            #expect(await directory.diagnose() == nil)
        }
    }

    @Test("an account without any entry is anonymous, and an unknown user has no links")
    func nobody() async throws {
        try await Self.with { directory, sandbox in
            sandbox.add(CloudAccount("u1"))
            let anonymous = try #require(UserID("u1"))
            #expect(Self.told(await directory.links(of: anonymous)) == ["anonymous local"])
            let nobody = try #require(UserID("u2"))
            #expect(Self.told(await directory.links(of: nobody)).isEmpty)
        }
    }

    @Test("a fault is failure, never a user without links")
    func faults() async throws {
        try await Self.with { directory, sandbox in
            sandbox.add(CloudAccount("u1", links: [.init("apple.com", rawID: "0001.a")]))
            sandbox.inject(.html, at: .data)
            let user = try #require(UserID("u1"))
            #expect(Self.told(await directory.links(of: user)) == ["unusable_answer"])
            #expect(Self.told(await directory.links(of: user)) == ["apple 0001.a"])
        }
    }
}
