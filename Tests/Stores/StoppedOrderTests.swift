import Engine
import HTTP
import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import Stores

/// What each kind of store does when a hold comes while it works on a call.
@Suite("Orders that are stopped", .serialized)
struct StoppedOrderTests {
    /// The orders of one call.
    private static func orders(
        _ users: [String],
        _ gate: PurgeGate,
        cutoff: WallTime = present
    ) throws -> [PurgeOrder] {
        try users.enumerated().map { index, user in
            PurgeOrder(
                request: request(index),
                user: try #require(UserID(user)),
                cutoff: cutoff,
                gate: gate
            )
        }
    }

    private static func request(_ index: Int) -> RequestID {
        RequestID(TimeOrderedID(high: 1, low: UInt64(index)))
    }

    /// The second of two orders cannot begin.
    private static func halfClosed() -> PurgeGate {
        let gate = PurgeGate()
        gate.close(for: [request(1)])
        return gate
    }

    // MARK: In mid order

    @Test("a SQLite database ends a user of many pieces and leaves the next one alone")
    func sqlite() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE posts(u TEXT, body TEXT); CREATE INDEX pu ON posts(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1200)
            INSERT INTO posts SELECT 'a', 'x' FROM c;
            INSERT INTO posts VALUES ('b', 'x'), ('b', 'y'), ('c', 'z');
            """
        )
        let gate = PurgeGate()
        // The first pause is in the middle of the first order.
        let clock = StoreClock.hasty { _ in
            gate.close(for: [Self.request(0), Self.request(1)])
        }
        let store = app.store(
            TableRule(table: "posts", column: "u", action: .delete),
            clock: clock
        )
        let orders = try Self.orders(["a", "b", "c"], gate)
        let done = "posts delete, cutoff: none "
        #expect(
            await store.purge(orders).map(\.text) == [done + "1200", "stopped", done + "1"]
        )
        #expect(try app.texts("SELECT DISTINCT u FROM posts") == ["\"b\""])
        let later = try Self.orders(["a", "b"], PurgeGate())
        #expect(await store.purge(later).map(\.text) == [done + "0", done + "2"])
    }

    @Test("a reload ends a SQLite purge in mid user: the counts are of what was committed")
    func sqliteReload() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE posts(u TEXT, body TEXT); CREATE INDEX pu ON posts(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1200)
            INSERT INTO posts SELECT 'a', 'x' FROM c;
            INSERT INTO posts VALUES ('b', 'x');
            """
        )
        let gate = PurgeGate()
        // The first pause is in the middle of the first order.
        let clock = StoreClock.hasty { _ in gate.retire() }
        let store = app.store(
            TableRule(table: "posts", column: "u", action: .delete),
            clock: clock
        )
        let answers = await store.purge(try Self.orders(["a", "b"], gate))
        guard case .halted(let counts) = answers[0] else {
            Issue.record("the order went on: \(answers[0].text)")
            return
        }
        let left = try app.texts("SELECT u FROM posts").count - 1
        #expect(left > 0 && counts.workedCount == 1200 - left)
        #expect(answers[1] == .stopped)
    }

    @Test("a folder of files ends the user whose files are going and leaves the next one alone")
    func files() async throws {
        let fixture = try FilesFixture()
        for user in ["a", "b", "c"] {
            for file in ["one", "two"] { try fixture.make("data/uploads/\(user)/\(file)") }
        }
        let gate = PurgeGate()
        let store = FilesStore(
            StoreName("uploads"),
            root: fixture.root,
            paths: [try PathPattern("{user_id}")]
        ) { _ in
            gate.close(for: [Self.request(0), Self.request(1)])
            return false
        }
        let cutoff = FilesFixture.now() + .seconds(3600)
        let answers = await store.purge(try Self.orders(["a", "b", "c"], gate, cutoff: cutoff))
        #expect(answers.map(\.rowCounts) == [[3], nil, [3]])
        #expect(answers[1] == .stopped)
        #expect(!fixture.exists("data/uploads/a") && !fixture.exists("data/uploads/c"))
        #expect(fixture.exists("data/uploads/b/one") && fixture.exists("data/uploads/b/two"))
        let later = try Self.orders(["a", "b"], PurgeGate(), cutoff: cutoff)
        #expect(await store.purge(later).map(\.rowCounts) == [[0], [3]])
    }

    @Test("a PostgreSQL database ends the user it is at and leaves the next one alone")
    func postgreSQL() async throws {
        let app = try PostgreSQLFixture(
            "CREATE TABLE posts(u text); INSERT INTO posts VALUES ('a'), ('b'), ('b'), ('c')"
        )
        let gate = PurgeGate()
        let store = app.store(TableRule(table: "posts", column: "u", action: .delete)) { sql in
            if sql.contains("DELETE") { gate.close(for: [Self.request(0), Self.request(1)]) }
            return true
        }
        let answers = await store.purge(try Self.orders(["a", "b", "c"], gate))
        #expect(answers.map(\.rowCounts) == [[1], nil, [1]])
        #expect(answers[1] == .stopped)
        #expect(try app.sql("SELECT u FROM posts") == ["b", "b"])
        let later = try Self.orders(["b"], PurgeGate())
        #expect(await store.purge(later).map(\.rowCounts) == [[2]])
    }

    @Test("a MySQL database ends the user it is at and leaves the next one alone")
    func mysql() async throws {
        let app = try MySQLFixture(
            "CREATE TABLE posts(u varchar(9)); INSERT INTO posts VALUES ('a'), ('b'), ('b'), ('c')"
        )
        let gate = PurgeGate()
        let store = app.store(TableRule(table: "posts", column: "u", action: .delete)) { sql in
            if sql.contains("DELETE") { gate.close(for: [Self.request(0), Self.request(1)]) }
            return true
        }
        let answers = await store.purge(try Self.orders(["a", "b", "c"], gate))
        #expect(answers.map(\.rowCounts) == [[1], nil, [1]])
        #expect(answers[1] == .stopped)
        #expect(try app.sql("SELECT u FROM posts") == ["b", "b"])
        let later = try Self.orders(["b"], PurgeGate())
        #expect(await store.purge(later).map(\.rowCounts) == [[2]])
    }

    // MARK: Before the order

    @Test("Redis leaves whoever is stopped out of its pass, also of two requests of one user")
    func redis() async throws {
        let fixture = try RedisFixture(database: 15)
        try fixture.set("s:a:1", "s:b:1")
        let store = fixture.store(try fixture.settings(["s:{user_id}:*"]))
        let orders = try Self.orders(["a", "b"], Self.halfClosed())
        let answers = await store.purge(orders)
        #expect(answers[0].rowCounts == [1] && answers[1] == .stopped)
        #expect(try fixture.keys == ["s:b:1"])
        #expect(await store.purge([orders[1]]) == [.stopped])
        let both = await store.purge(try Self.orders(["b", "b"], Self.halfClosed()))
        #expect(both[0].rowCounts == [1] && both[1] == .stopped)
    }

    @Test("objects, documents, values and accounts at Google are left alone")
    func google() async throws {
        try await GoogleBench.with { bench in
            for user in ["a", "b"] {
                bench.sandbox.add(CloudObject("u/\(user)/x"))
                bench.sandbox.add(CloudDocument("users/\(user)"))
                bench.sandbox.add(value: 1, at: "users", user, "x")
                bench.sandbox.add(CloudAccount(user))
            }
            let stores: [any PurgeStore] = [
                try CloudStorageStoreTests.store(bench),
                try FirestoreStoreTests.store(bench, documents: ["users/{user_id}"]),
                try RealtimeDatabaseStoreTests.store(bench),
                try FirebaseAuthStoreTests.store(bench),
            ]
            for store in stores {
                let orders = try Self.orders(
                    ["a", "b"],
                    Self.halfClosed(),
                    cutoff: GoogleBench.now
                )
                let answers = await store.purge(orders)
                #expect(answers[0].rowCounts == [1] && answers[1] == .stopped, "\(store.name)")
                #expect(await store.verify(orders) == [.clean, .remaining(1)], "\(store.name)")
            }
        }
    }

    @Test("a bucket of S3 is not even asked for")
    func s3() async throws {
        let client = try S3Client(of: "b", at: "https://localhost:1", .path) { url in
            try AWSClient.patient(of: "s3", at: url, secret: "canary-s3-77d0")
        }
        let clock = StoreClock.real()
        let store = S3Store(
            name: StoreName("objects"),
            templates: [try KeyTemplate("u/{user_id}/", isPrefix: true)],
            bucket: S3Bucket(client: client, name: "b", now: clock.wall),
            clock: clock
        )
        let orders = try Self.orders(["a", "b"], Self.halfClosed())
        #expect(await store.purge(orders.reversed()) == [.stopped, .failure(.unreachable)])
        await store.shutdown()
    }
}
