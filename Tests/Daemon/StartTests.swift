import Engine
import FoundationEssentials
import Glibc
import Lifecycle
import NIOPosix
import Providers
import Settings
import Storage
import Synchronization
import Systemd
import Testing

@testable import Daemon
@testable import Sandbox

/// What is broken when the service starts, and is mended later.
struct StartTests {
    private static let text =
        Bench.configuration + """

            [[store]]
            name = "uploads"
            kind = "files"
            root = "{here}/uploads"
            paths = ["{user_id}"]
            [[store]]
            name = "objects"
            kind = "s3"
            bucket = "bucket-1"
            region = "eu-central-1"
            endpoint = "https://localhost:1"
            access_key_id = "AKIAIOSFODNN7EXAMPLE"
            secret_key_credential = "s3-secret"
            prefixes = ["users/{user_id}/"]
            """

    private static func configuration(_ bench: Bench) throws -> DaemonConfiguration {
        let text = text.replacing("{here}", with: bench.directory)
        return try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
    }

    private static func factory(_ bench: Bench) -> AdapterFactory {
        AdapterFactory(
            credentials: CredentialDirectory(path: bench.directory),
            hasher: bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start },
            logger: bench.log.logger
        )
    }

    private static func makeKey(_ bench: Bench) throws {
        let path = bench.directory + "/apple-key.p8"
        try Data(try CryptoKey.makeP256().privatePEM().utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, 0o600) == 0)
    }

    private static func makeUploads(_ bench: Bench) throws {
        let root = bench.directory + "/uploads"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try Data("uploads\n".utf8).write(to: URL(filePath: root + "/.expunged-root"))
    }

    @Test func `what cannot be used is named and stands still, and the rest is made`()
        async throws
    {
        let bench = try Bench()
        let adapters = try await Self.factory(bench).make(try Self.configuration(bench))
        #expect(Set(adapters.stores.keys.map(\.rawValue)) == ["uploads", "objects"])
        #expect(adapters.unfit.stores[StoreName("uploads")]?.count == 1)
        let objects = try #require(adapters.unfit.stores[StoreName("objects")]?.first)
        #expect(objects.contains("s3-secret"))
        let apple = ProviderName("apple")
        #expect(adapters.unfit.providers[apple]?.contains("apple-key.p8") == true)
        #expect(adapters.engineConfiguration.providers[apple]?.traits.revokesWholeGrant == true)
        let user = try #require(UserID("u"))
        let order = PurgeOrder(
            request: IdentifierGenerator(now: { Bench.start }).requestID(),
            user: user,
            cutoff: Bench.start
        )
        let store = try #require(adapters.stores[StoreName("objects")])
        #expect(await store.purge([order]) == [.failure(.misconfigured)])
        #expect(await store.verify([order]) == [.failure(.misconfigured)])
        var inputs: [String] = []
        adapters.pauseUnfit { input in
            switch input {
            case .pause(let name, let reason, _): inputs.append("\(name) \(reason)")
            case .pauseStore(let name, let reason, _): inputs.append("\(name) \(reason)")
            default: Issue.record("no pause")
            }
        }
        #expect(
            inputs == ["apple not_set_up", "objects misconfigured", "uploads misconfigured"]
        )
        await adapters.shutDown()
    }

    /// Answers nothing until its task is cancelled, as a listing that never ends.
    private struct StuckStore: StubStore {
        let name = StoreName("stuck")

        func inspect(withOutages: Bool) async -> StoreFindings {
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            defer { continuation.finish() }
            for await _ in stream {}
            return StoreFindings(problems: [])
        }
    }

    private struct FineStore: StubStore { let name = StoreName("fine") }

    @Test func `a store that does not answer in time is one that cannot be used`() async throws {
        let bench = try Bench()
        var factory = Self.factory(bench)
        let waited = Mutex(Duration.zero)
        factory.sleep = { time in waited.withLock { $0 += time } }
        let found = await factory.startupProblems(of: [StoreName("stuck"): StuckStore()])
        #expect(found[StoreName("stuck")]?.first?.contains("did not answer") == true)
        #expect(waited.withLock { $0 } == Limits.startCheckMax)
        factory.sleep = { _ in try await BootClock.sleepForever() }
        #expect(await factory.startupProblems(of: [StoreName("fine"): FineStore()]).isEmpty)
    }

    @Test func `what is in the spool's place stops no upgrade of the package`() async throws {
        let bench = try Bench()
        let place = SpoolPlace(stateDirectory: bench.directory)
        try place.makeIfMissing()
        let text = Data("no spool".utf8)
        try text.write(to: URL(filePath: place.path))
        let arguments = ["--init-spool", "--state-directory", bench.directory]
        #expect(await DaemonCommand.run(arguments, environment: [:]) == 0)
        #expect(try Data(contentsOf: URL(filePath: place.path)) == text)
    }

    @Test func `a file that was lost lets no deletion end with nothing erased`() async throws {
        let bench = try Bench()
        let alone = try DaemonConfiguration.load(
            path: bench.directory + "/lost.toml",
            environment: ["EXPUNGED_JOURNAL_LEVEL": "warning"]
        )
        try DaemonBuilder.requireFile(alone, at: "lost.toml", scope: nil)
        let scope = ErasureScope(try Self.configuration(bench), [:])
        try await bench.state.enforce(scope: scope.document())
        let document = try await bench.state.enforcedScope()
        let error = #expect(throws: DaemonError.self) {
            try DaemonBuilder.requireFile(alone, at: "lost.toml", scope: document)
        }
        #expect(error?.description.contains("lost.toml") == true)
    }

    @Test func `a template that could reach another user stops the start`() async throws {
        let bench = try Bench()
        let text = Self.text.replacing("[\"{user_id}\"]", with: "[\"{user_id}*\"]")
            .replacing("{here}", with: bench.directory)
        await #expect(throws: (any Error).self) {
            let configuration = try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
            _ = try await Self.factory(bench).make(configuration)
        }
    }

    // MARK: Looking again

    private static func inputs(
        of body: (@escaping @Sendable (EngineInput) -> Void) async throws
            -> Void
    ) async throws -> [String] {
        let posted = Mutex<[String]>([])
        try await body { input in
            switch input {
            case .resume(let name, isOwn: true): posted.withLock { $0.append("resume \(name)") }
            case .resumeStore(let name, isOwn: true):
                posted.withLock { $0.append("resume \(name)") }
            default: Issue.record("nothing else is posted")
            }
        }
        return posted.withLock { $0 }
    }

    @Test func `what the service paused is resumed once it is mended, and says why until then`()
        async throws
    {
        let bench = try Bench()
        let adapters = try await Self.factory(bench).make(try Self.configuration(bench))
        let (uploads, objects) = (StoreName("uploads"), StoreName("objects"))
        _ = try await bench.state.commit([
            .pauseStore(uploads, reason: "misconfigured", at: Bench.start),
            .pauseStore(objects, reason: "operator", at: Bench.start),
            .pauseProvider(ProviderName("apple"), reason: "not_set_up", at: Bench.start),
        ])
        let clock = JumpingClock()
        let posted = try await Self.inputs { post in
            let watch = PauseWatch(
                state: bench.state,
                registry: AdapterRegistry(adapters),
                clock: clock,
                logger: bench.log.logger,
                post: post
            )
            try await watch.lookOnce()
            #expect(watch.problems(of: .store(uploads)).count == 1)
            #expect(watch.problems(of: .provider(ProviderName("apple"))).count == 1)
            #expect(watch.problems(of: .store(objects)).isEmpty, "an operator knows why")
            #expect(bench.log.all.count { $0.hasPrefix("componentUnfit") } == 2)
            try Self.makeUploads(bench)
            try await watch.lookOnce()
            #expect(watch.problems(of: .store(uploads)).count == 1, "not again so soon")
            try await clock.sleep(until: clock.now() + ComponentCheck.period)
            try await watch.lookOnce()
            #expect(watch.problems(of: .store(uploads)).isEmpty)
        }
        #expect(posted == ["resume uploads"])
        #expect(bench.log.all.count { $0.hasPrefix("componentUnfit") } == 2, "each told once")
        await adapters.shutDown()
    }

    @Test func `a reload has what the service paused checked at once`() async throws {
        let bench = try Bench()
        let adapters = try await Self.factory(bench).make(try Self.configuration(bench))
        let uploads = StoreName("uploads")
        _ = try await bench.state.commit([
            .pauseStore(uploads, reason: "misconfigured", at: Bench.start)
        ])
        let clock = SleepingClock(at: Bench.start)
        let posts = AsyncStream<EngineInput>.makeStream()
        let watch = PauseWatch(
            state: bench.state,
            registry: AdapterRegistry(adapters),
            clock: clock,
            logger: bench.log.logger,
            post: { posts.continuation.yield($0) }
        )
        try await watch.lookOnce()
        #expect(watch.problems(of: .store(uploads)).count == 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watch.run() }
            #expect(await clock.nextSleep() == Bench.start + ComponentCheck.period)
            try Self.makeUploads(bench)
            watch.reloaded(UnfitComponents())
            for await input in posts.stream {
                guard case .resumeStore(uploads, isOwn: true) = input else {
                    Issue.record("nothing else is posted")
                    continue
                }
                break
            }
            group.cancelAll()
        }
        #expect(watch.problems(of: .store(uploads)).isEmpty)
        await adapters.shutDown()
    }

    @Test func `a provider that refused what a wrong clock signed is resumed when it is set`()
        async throws
    {
        let bench = try Bench()
        try Self.makeUploads(bench)
        try Self.makeKey(bench)
        let adapters = try await Self.factory(bench).make(try Self.configuration(bench))
        let apple = ProviderName("apple")
        _ = try await bench.state.commit([
            .pauseProvider(apple, reason: "misconfigured", at: Bench.start)
        ])
        let clock = JumpingClock()
        let steppedAt = Mutex<WallTime?>(nil)
        let posted = try await Self.inputs { post in
            let watch = PauseWatch(
                state: bench.state,
                registry: AdapterRegistry(adapters),
                clock: clock,
                steppedAt: { steppedAt.withLock { $0 } },
                logger: bench.log.logger,
                post: post
            )
            try await watch.lookOnce()
            steppedAt.withLock { $0 = clock.now() }
            try await watch.lookOnce()
            // A call of before the jump has paused it again.
            for _ in 0..<3 { try await watch.lookOnce() }
            try await clock.sleep(until: clock.now() + .seconds(30))
            try await watch.lookOnce()
            try await clock.sleep(until: clock.now() + ComponentCheck.afterStep)
            try await watch.lookOnce()
        }
        #expect(posted == ["resume apple", "resume apple"])
        await adapters.shutDown()
    }

    @Test func `what is paused again and again is looked at more and more seldom`() async throws {
        let bench = try Bench()
        try Self.makeUploads(bench)
        let adapters = try await Self.factory(bench).make(try Self.configuration(bench))
        _ = try await bench.state.commit([
            .pauseStore(StoreName("uploads"), reason: "misconfigured", at: Bench.start)
        ])
        let clock = JumpingClock()
        let resumedAt = Mutex<[Int64]>([])
        let watch = PauseWatch(
            state: bench.state,
            registry: AdapterRegistry(adapters),
            clock: clock,
            logger: bench.log.logger,
            post: { _ in
                let second = (clock.now().unixMilliseconds - Bench.start.unixMilliseconds) / 1000
                resumedAt.withLock { $0.append(second) }
            }
        )
        for _ in 0..<200 {
            try await watch.lookOnce()
            try await clock.sleep(until: clock.now() + ComponentCheck.period)
        }
        #expect(resumedAt.withLock { $0 } == [0, 30, 90, 210, 450, 930, 1890, 2850])
        await adapters.shutDown()
    }

    @Test func `while nothing is paused the watch sleeps for an hour, and a pause ends that`()
        async throws
    {
        let bench = try Bench()
        try Self.makeUploads(bench)
        let adapters = try await Self.factory(bench).make(try Self.configuration(bench))
        let clock = SleepingClock(at: Bench.start)
        try await confirmation("resumed") { resumed in
            let posts = AsyncStream<Void>.makeStream()
            let watch = PauseWatch(
                state: bench.state,
                registry: AdapterRegistry(adapters),
                clock: clock,
                logger: bench.log.logger,
                post: { _ in
                    resumed()
                    posts.continuation.finish()
                }
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watch.run() }
                let idle = await clock.nextSleep()
                #expect(idle == Bench.start + .seconds(3600))
                _ = try await bench.state.commit([
                    .pauseStore(StoreName("uploads"), reason: "misconfigured", at: Bench.start)
                ])
                watch.wake()
                let looking = await clock.nextSleep()
                #expect(looking == Bench.start + ComponentCheck.period)
                for await _ in posts.stream {}
                group.cancelAll()
            }
        }
        await adapters.shutDown()
    }
}
