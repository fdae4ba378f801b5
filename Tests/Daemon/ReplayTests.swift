import Control
import Engine
import FoundationEssentials
import GRDB
import Lifecycle
import NIOPosix
import Settings
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon
@testable import Stores

/// Stores of two thousand users, of whom one half is erased and then brought back by a backup.
struct ReplayTests {
    private static let erasedCount = 1000
    private static let keptCount = 1000

    private final class Stores: Sendable {
        let bench: Bench
        /// What open requests were told.
        let operated = Mutex<[RequestID: RequestEvent]>([:])
        let registry: AdapterRegistry
        let files: String
        let database: String

        /// Users in that number, each with three rows and a picture.
        init(_ count: Int = ReplayTests.erasedCount + ReplayTests.keptCount) async throws {
            bench = try Bench()
            files = bench.directory + "/files"
            database = bench.directory + "/app.db"
            try Self.fill(count, database: database, files: files)
            let configuration = try DaemonConfiguration.parse(
                Array(
                    """
                    [[store]]
                    name = "app-db"
                    kind = "sqlite"
                    path = "\(database)"
                    [[store.table]]
                    table = "posts"
                    column = "author"
                    action = "delete"
                    [[store]]
                    name = "uploads"
                    kind = "files"
                    root = "\(files)"
                    paths = ["pictures/{user_id}.png"]
                    """.utf8
                ),
                file: "t.toml"
            )
            let factory = AdapterFactory(
                credentials: nil,
                hasher: bench.hasher,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                now: { Bench.start },
                logger: bench.log.logger
            )
            registry = AdapterRegistry(try await factory.make(configuration))
        }

        private static func fill(_ count: Int, database: String, files: String) throws {
            let queue = try Bench.application(database)
            try queue.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE posts
                          (id INTEGER PRIMARY KEY, author TEXT NOT NULL, body TEXT);
                        CREATE INDEX posts_author ON posts (author);
                        WITH RECURSIVE n (i) AS
                          (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count * 3 - 1))
                        INSERT INTO posts (author, body)
                          SELECT 'user-' || (i % \(count)), 'text ' || i FROM n;
                        """
                )
            }
            try queue.close()
            try FileManager.default.createDirectory(
                atPath: files + "/pictures",
                withIntermediateDirectories: true
            )
            try Data("uploads\n".utf8).write(to: URL(filePath: files + "/.expunged-root"))
            for index in 0..<count {
                let path = files + "/pictures/user-\(index).png"
                try Data("picture \(index)".utf8).write(to: URL(filePath: path))
            }
        }

        /// Takes or brings back a backup of both.
        func copy(_ from: String, _ to: String) throws {
            for path in [database, files] {
                if FileManager.default.fileExists(atPath: path + to) {
                    try FileManager.default.removeItem(atPath: path + to)
                }
                try FileManager.default.copyItem(atPath: path + from, toPath: path + to)
            }
        }

        /// Hands in, purges and completes a deletion of each.
        func erase(_ users: [String]) async throws {
            let policy = IntakePolicy(
                gracePeriod: .zero,
                deadline: .seconds(86_400),
                stores: registry.current.configuration.stores.map(\.name)
            )
            let generator = IdentifierGenerator(now: { Bench.start })
            let submissions = try users.map { user in
                Engine.Submission(
                    kind: .deleteAccount,
                    user: try #require(UserID(user)),
                    userHash: bench.hasher.hash(user, domain: .user),
                    createdAt: Bench.start,
                    origin: .control(uid: 1, role: "submit")
                )
            }
            let outcomes = try await bench.state.accept(
                submissions,
                policy: policy,
                now: Bench.start,
                newID: { generator.requestID() }
            )
            var orders: [PurgeOrder] = []
            var changes: [StateChange] = []
            for outcome in outcomes {
                guard case .accepted(let loaded, _) = outcome else { continue }
                orders.append(
                    PurgeOrder(
                        request: loaded.request.id,
                        user: loaded.user,
                        cutoff: Bench.start + .seconds(86_400 * 365 * 10)
                    )
                )
                var done = loaded.request
                for index in done.purges.indices { done.purges[index].step = .verified }
                done.phase = .completed
                done.endedAt = Bench.start + .seconds(60)
                done.dueAt = nil
                changes.append(.save(now: done, was: loaded.request, at: Bench.start))
            }
            for store in registry.current.stores.values {
                let answers = await store.purge(orders)
                #expect(answers.count == users.count)
            }
            _ = try await bench.state.commit(changes)
        }

        /// An hour after the erasures.
        static let now = Bench.start + .seconds(3600)

        func service(
            copy: (any PurgeStore)? = nil,
            steward: Steward = .single
        ) throws -> ReplayService {
            let parts = try bench.recheckParts(
                registry,
                JumpingClock(at: Self.now),
                copy: copy,
                operate: { id, event in
                    self.operated.withLock { $0[id] = event }
                    return .done
                }
            )
            return ReplayService(parts: parts, steward: steward)
        }

        func replay(
            _ input: ReplayTerms,
            steward: Steward = .single
        ) async throws -> WireReplay {
            let service = try service(steward: steward)
            try service.begin(input)
            service.stop()
            try await service.run()
            return service.progress
        }

        /// Rows of the users from `first` on, asked of the database itself, and all they say.
        func rows(from first: Int, count: Int) throws -> (count: Int, sum: String) {
            let queue = try Bench.application(database)
            defer {
                do {
                    try queue.close()
                } catch {
                    Issue.record("cannot close a test's database")
                }
            }
            return try queue.read { db in
                let row = try #require(
                    try Row.fetchOne(
                        db,
                        sql: """
                            SELECT count(*), ifnull(group_concat(id || body), '') FROM
                              (SELECT id, body FROM posts
                               WHERE CAST(substr(author, 6) AS INTEGER) BETWEEN ? AND ? ORDER BY id)
                            """,
                        arguments: [first, first + count - 1]
                    )
                )
                return (row[0], row[1])
            }
        }

        func pictures() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: files + "/pictures"))
        }
    }

    /// Of everything, before anybody came back.
    private static var afterRestoration: ReplayTerms {
        var input = ReplayTerms(since: Bench.start)
        input.restoredAt = Stores.now
        return input
    }
    private static let erased = (0..<erasedCount).map { "user-\($0)" }
    private static let keptPictures = Set(
        (erasedCount..<erasedCount + keptCount).map { "user-\($0).png" }
    )

    @Test func `of a thousand erased users that a backup brings back, all are erased again`()
        async throws
    {
        let stores = try await Stores()
        let others = try stores.rows(from: Self.erasedCount, count: Self.keptCount)
        #expect(others.count == 3000)
        try stores.copy("", ".backup")
        try await stores.erase(Self.erased)
        #expect(try stores.rows(from: 0, count: Self.erasedCount).count == 0)
        try stores.copy(".backup", "")
        #expect(try stores.rows(from: 0, count: Self.erasedCount).count == 3000)
        #expect(try stores.pictures().count == 2000)

        var drill = ReplayTerms(since: Bench.start)
        drill.isDrill = true
        let found = try await stores.replay(drill)
        #expect(found.stores.map(\.found) == [1000, 1000])
        #expect(found.stores.map(\.erased) == [0, 0])
        #expect(try stores.rows(from: 0, count: Self.erasedCount).count == 3000)

        let replay = try await stores.replay(Self.afterRestoration)
        #expect(replay.state.known == .finished)
        #expect(replay.tombstones == 1000)
        #expect(replay.stores.map(\.erased) == [1000, 1000])
        #expect(replay.stores.map(\.rows) == [3000, 1000])
        #expect(try stores.rows(from: 0, count: Self.erasedCount).count == 0)
        #expect(try stores.rows(from: Self.erasedCount, count: Self.keptCount) == others)
        #expect(try stores.pictures() == Self.keptPictures)

        let again = try await stores.replay(ReplayTerms(since: Bench.start))
        #expect(again.state.known == .finished)
        #expect(again.stores.map(\.erased) == [0, 0])
    }

    @Test func `what a store does not date stays until somebody says that it was restored`()
        async throws
    {
        let stores = try await Stores(20)
        try stores.copy("", ".backup")
        try await stores.erase(Array(Self.erased.prefix(5)))
        try stores.copy(".backup", "")

        // Nobody said so, and these users were erased after what was said.
        for restoredAt in [nil, Bench.start + .seconds(59)] {
            var input = ReplayTerms(since: Bench.start, store: StoreName("app-db"))
            input.restoredAt = restoredAt
            let replay = try await stores.replay(input)
            #expect(replay.state.known == .incomplete)
            let store = try #require(replay.stores.first)
            #expect(store.error == "undated")
            #expect(store.detail?.contains("no created_at_column for posts") == true)
            #expect([store.found, store.newer, store.erased, store.rows] == [5, 15, 0, 0])
            #expect(try stores.rows(from: 0, count: 20).count == 60)
            input.isDrill = true
            #expect(try await stores.replay(input).stores == replay.stores)
        }
        let replay = try await stores.replay(Self.afterRestoration)
        #expect(replay.state.known == .finished)
        #expect(replay.stores.map(\.erased) == [5, 5])
        #expect(try stores.rows(from: 0, count: 5).count == 0)
        #expect(try stores.rows(from: 5, count: 15).count == 45)
    }

    @Test func `a replay that another host takes over is not finished`() async throws {
        let stores = try await Stores(20)
        let other = Steward(current: { nil }, rest: {})
        let replay = try await stores.replay(Self.afterRestoration, steward: other)
        #expect(replay.state.known == .incomplete)
        #expect(replay.stores.map(\.error) == ["other_host"])
    }

    @Test func `who is on hold stays, and is erased again once released`() async throws {
        let stores = try await Stores(20)
        try stores.copy("", ".backup")
        try await stores.erase(Array(Self.erased.prefix(5)))
        try stores.copy(".backup", "")
        let user = stores.bench.hasher.hash("user-3", domain: .user)
        _ = try await stores.bench.state.holdUser(user, by: 1000, at: Bench.start)

        let held = try await stores.replay(Self.afterRestoration)
        #expect(held.state.known == .incomplete)
        #expect(held.stores.map(\.error) == ["on_hold", "on_hold"])
        #expect(held.stores.map(\.found) == [5, 5])
        #expect(held.stores.map(\.erased) == [4, 4])
        #expect(try stores.rows(from: 0, count: 5).count == 3)
        #expect(try stores.pictures().contains("user-3.png"))

        _ = try await stores.bench.state.releaseUser(user, by: 1000, at: Bench.start)
        let replay = try await stores.replay(Self.afterRestoration)
        #expect(replay.state.known == .finished)
        #expect(replay.stores.map(\.erased) == [1, 1])
        #expect(try stores.rows(from: 0, count: 5).count == 0)
    }

    @Test func `open deletions that have begun purge again, but for a drill`() async throws {
        let stores = try await Stores(1)
        let generator = IdentifierGenerator(now: { Bench.start })
        let user = try #require(UserID("user-0"))
        let outcomes = try await stores.bench.state.accept(
            [
                Engine.Submission(
                    kind: .deleteAccount,
                    user: user,
                    userHash: stores.bench.hasher.hash("user-0", domain: .user),
                    createdAt: Bench.start,
                    origin: .control(uid: 1, role: "submit")
                )
            ],
            policy: IntakePolicy(
                gracePeriod: .zero,
                deadline: .seconds(86_400),
                stores: [StoreName("app-db"), StoreName("uploads")]
            ),
            now: Bench.start,
            newID: { generator.requestID() }
        )
        guard case .accepted(let loaded, _)? = outcomes.first else {
            Issue.record("not accepted")
            return
        }
        var begun = loaded.request
        begun.phase = .open(.purging)
        begun.purgeStartedAt = Bench.start
        begun.purges[0].attempts = 1
        begun.purges[0].step = .purged
        _ = try await stores.bench.state.commit([
            .save(now: begun, was: loaded.request, at: Bench.start)
        ])
        for (store, isDrill, reopened) in [
            (nil, true, 0), (StoreName("uploads"), false, 0), (StoreName("app-db"), false, 1),
        ] {
            var input = ReplayTerms(since: Bench.start, store: store)
            input.isDrill = isDrill
            #expect(try await stores.replay(input).reopened == reopened)
            let told = stores.operated.withLock { $0 }
            let event = store.map { RequestEvent.restored([$0], at: nil) }
            #expect(told == (reopened == 1 ? [begun.id: try #require(event)] : [:]))
        }
    }

    @Test func `erasures from before the backup are left alone`() async throws {
        let stores = try await Stores(20)
        try stores.copy("", ".backup")
        try await stores.erase(Array(Self.erased.prefix(5)))
        try stores.copy(".backup", "")
        let later = try await stores.replay(ReplayTerms(since: Bench.start + .seconds(61)))
        #expect(later.tombstones == 0)
        #expect(try stores.pictures().count == 20)
    }

    @Test func `a time to come is refused, since nothing or too much would go`() async throws {
        let stores = try await Stores(1)
        let service = try stores.service()
        let now = Stores.now
        #expect(throws: ControlProblem.self) {
            try service.begin(ReplayTerms(since: now + .seconds(1)))
        }
        var input = ReplayTerms(since: now, store: StoreName("uploads"))
        input.restoredAt = now + .seconds(1)
        #expect(throws: ControlProblem.self) { try service.begin(input) }
        input.restoredAt = now
        try service.begin(input)
    }

    @Test func `the same id is the same replay, and another one waits`() async throws {
        let stores = try await Stores(1)
        let service = try stores.service()
        var input = Self.afterRestoration
        input.id = "ours"
        try service.begin(input)
        try service.begin(input)
        var other = input
        other.id = nil
        #expect(throws: ControlProblem.self) { try service.begin(other) }
        service.stop()
        try await service.run()
        #expect(service.progress.id == "ours")
        #expect(service.progress.state.known == .finished)
        try service.begin(input)
        #expect(service.progress.state.known == .finished)
        try service.begin(other)
        #expect(service.progress.state.known == .running)
        #expect(service.progress.id == nil)
    }

    @Test func `a drill in a copy that is not there is no success, with nothing to erase either`()
        async throws
    {
        let stores = try await Stores(1)
        let copy = FilesStore(
            StoreName("uploads"),
            root: stores.files + "/nowhere",
            paths: [try PathPattern("pictures/{user_id}.png")]
        )
        let service = try stores.service(copy: copy)
        var input = ReplayTerms(since: Bench.start, store: StoreName("uploads"))
        input.isDrill = true
        input.copy = stores.files + "/nowhere"
        try service.begin(input)
        service.stop()
        try await service.run()
        #expect(service.progress.state.known == .incomplete)
        #expect(service.progress.stores.map(\.error) == ["misconfigured"])
        #expect(service.progress.stores.first?.detail?.contains("nowhere") == true)
    }

    @Test func `a state that forgot them takes the tombstones from the checkpoint file`()
        async throws
    {
        let stores = try await Stores(20)
        try stores.copy("", ".backup")
        try await stores.erase(Array(Self.erased.prefix(5)))
        try await stores.bench.keeper(JumpingClock()).checkpoint()
        try stores.copy(".backup", "")
        try await stores.bench.state.writer.perform {
            _ = try $0.run("DELETE FROM tombstones")
        }
        let replay = try await stores.replay(Self.afterRestoration)
        #expect(replay.tombstones == 5)
        #expect(replay.stores.map(\.erased) == [5, 5])
    }
}
