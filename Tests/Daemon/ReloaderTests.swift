import Control
import Engine
import FoundationEssentials
import Lifecycle
import NIOPosix
import Settings
import Storage
import Synchronization
import Systemd
import Testing

@testable import Daemon

struct ReloaderTests {
    /// A backend without stores, and a reload that gives it one.
    private static func reloader(
        _ bench: Bench,
        _ backend: DaemonBackend,
        pauses: PauseWatch? = nil
    ) throws -> Reloader {
        let root = bench.directory + "/uploads"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let files = [
            root + "/.expunged-root": "uploads\n",
            bench.directory + "/expunged.toml": """
            [[store]]
            name = "uploads"
            kind = "files"
            root = "\(root)"
            paths = ["{user_id}"]
            """,
        ]
        for (path, text) in files { try Data(text.utf8).write(to: URL(filePath: path)) }
        return Reloader(
            load: { [path = bench.directory + "/expunged.toml"] () throws(ConfigurationError) in
                try DaemonConfiguration.load(path: path)
            },
            factory: AdapterFactory(
                credentials: nil,
                hasher: bench.hasher,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                now: { Bench.start },
                logger: bench.log.logger
            ),
            state: bench.state,
            registry: backend.parts.registry,
            engine: backend.parts.engine,
            notifier: ServiceNotifier(),
            pauses: pauses ?? bench.pauses(backend),
            now: { Bench.start },
            logger: bench.log.logger
        )
    }

    @Test func `requests that end after a reload name what it brought into force`() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let reloader = try Self.reloader(bench, backend)
        try await bench.state.enforce(scope: backend.parts.registry.current.erasureScope.document())
        let before = try await ErasureScopeTests.complete("alice", on: bench)
        _ = try await reloader.reload()
        let after = try await ErasureScopeTests.complete("bob", on: bench)
        let old = try #require(try await bench.state.scope(of: before))
        #expect(try ErasureScope(document: old).stores.isEmpty)
        let new = try #require(try await bench.state.scope(of: after))
        #expect(try ErasureScope(document: new) == backend.parts.registry.current.erasureScope)
        #expect(try ErasureScope(document: new).stores.map(\.name) == ["uploads"])
    }

    @Test func `a refused reload is shown until a good one`() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let reloader = try Self.reloader(bench, backend)
        var parts = backend.parts
        parts.refusedReload = { reloader.refusal }
        let shown = DaemonBackend(parts)
        let caller = Caller(role: .operator, uid: 0)
        let path = URL(filePath: bench.directory + "/expunged.toml")
        let good = try Data(contentsOf: path)
        #expect(try await shown.status(caller: caller).refusedReload == nil)
        try Data("\n[nonsense]\n".utf8).write(to: path)
        let problem = await #expect(throws: ControlProblem.self) { _ = try await reloader.reload() }
        #expect(problem?.code == .configurationInvalid)
        let status = try await shown.status(caller: caller)
        #expect(status.alarms.contains("configuration_refused"))
        #expect(status.refusedReload?.refusedAt == Bench.start)
        #expect(status.refusedReload?.errors.first?.contains("expunged.toml:2:") == true)
        let metric = "expunged_configuration_refused"
        #expect(try await shown.metrics(caller: caller).contains("\n\(metric) 1\n"))
        try good.write(to: path)
        _ = try await reloader.reload()
        let after = try await shown.status(caller: caller)
        #expect(after.refusedReload == nil)
        #expect(!after.alarms.contains("configuration_refused"))
        #expect(try await shown.metrics(caller: caller).contains("\n\(metric) 0\n"))
    }

    @Test func `what needs a restart is compared with what was read at start`() async throws {
        let bench = try Bench()
        let reloader = try Self.reloader(bench, try bench.backend())
        let path = URL(filePath: bench.directory + "/expunged.toml")
        let good = try Data(contentsOf: path)
        try (good + Data("\n[server]\nconnections_max = 9\n".utf8)).write(to: path)
        for _ in 0..<2 {
            #expect(try await reloader.reload().needRestart == ["server.connections_max"])
        }
        try good.write(to: path)
        #expect(try await reloader.reload().needRestart.isEmpty)
    }

    @Test func `a reload takes what cannot be used yet, and says so`() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let reloader = try Self.reloader(bench, backend)
        try FileManager.default.removeItem(atPath: bench.directory + "/uploads")
        let answer = try await reloader.reload()
        #expect(answer.changed.contains("store.uploads"))
        #expect(answer.unusable.count == 1)
        #expect(answer.unusable.first?.hasPrefix("cannot use store 'uploads': ") == true)
        #expect(bench.log.all.contains { $0.hasPrefix("componentUnfit") })
    }

    @Test func `what a reload mends waits for no later check`() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let resumed = Mutex<[StoreName]>([])
        let pauses = bench.pauses(backend) { input in
            guard case .resumeStore(let name, isOwn: true) = input else { return }
            resumed.withLock { $0.append(name) }
        }
        let reloader = try Self.reloader(bench, backend, pauses: pauses)
        let (root, aside) = (bench.directory + "/uploads", bench.directory + "/aside")
        try FileManager.default.moveItem(atPath: root, toPath: aside)
        let uploads = StoreName("uploads")
        #expect(try await reloader.reload().unusable.count == 1)
        _ = try await bench.state.commit([
            .pauseStore(uploads, reason: "misconfigured", at: Bench.start)
        ])
        try await pauses.lookOnce()
        try FileManager.default.moveItem(atPath: aside, toPath: root)
        try await pauses.lookOnce()
        #expect(resumed.withLock { $0 }.isEmpty, "not again so soon")
        #expect(try await reloader.reload().unusable.isEmpty)
        try await pauses.lookOnce()
        #expect(resumed.withLock { $0 } == [uploads])
    }

    @Test func `what cannot be written down does not come into force`() async throws {
        let bench = try Bench()
        let backend = try bench.backend()
        let reloader = try Self.reloader(bench, backend)
        try await bench.state.close()
        let problem = await #expect(throws: ControlProblem.self) { _ = try await reloader.reload() }
        #expect(problem?.code == .unavailable)
        #expect(backend.parts.registry.current.configuration.stores.isEmpty)
    }
}
