import Engine
import FoundationEssentials
import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import Stores

/// Stores that list their own users, so that what a restored backup brought back is erased again.
@Suite("Users of a restored store", .serialized) struct RestoredUsersTests {
    private static let erased = 0..<1000
    private static let hasher = StandInHasher()

    /// Whether a user is among the erased ones, told by hashes alone, as of tombstones.
    private static func isErased(_ users: [String]) -> @Sendable (UserID) -> Bool {
        let tombstones = Set(users.map { hasher.hash($0, domain: .user) })
        return { tombstones.contains(hasher.hash($0.exposeText(), domain: .user)) }
    }

    private static func names(_ answer: UsersAnswer) -> [String] {
        guard case .found(let users) = answer else { return ["\(answer)"] }
        return users.map { $0.exposeText() }.sorted()
    }

    /// Lists, purges in the engine's batches and verifies; the number of users that were erased.
    private static func replay(
        _ store: some UserListing,
        _ users: [String],
        cutoff: WallTime
    ) async throws -> Int {
        guard case .found(let found) = await store.users(where: isErased(users)) else { return -1 }
        var count = 0
        for start in stride(from: 0, to: found.count, by: 128) {
            let orders = try found[start..<min(start + 128, found.count)].map {
                try FilesFixture.order($0.exposeText(), cutoff: cutoff)
            }
            for answer in await store.purge(orders) {
                guard case .done(let counts) = answer else { continue }
                count += counts.workedCount > 0 ? 1 : 0
            }
            for answer in await store.verify(orders) { #expect(answer == .clean) }
        }
        return count
    }

    @Test("PostgreSQL: of a thousand erased users that a backup brings back, all are erased again")
    func postgreSQL() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE posts(id bigserial, author text NOT NULL, body text);
            CREATE INDEX ON posts(author);
            INSERT INTO posts(author, body) SELECT 'user-' || (i % 2000), 'text ' || i
                FROM generate_series(0, 5999) i;
            CREATE TABLE backup AS SELECT * FROM posts;
            """
        )
        let users = Self.erased.map { "user-\($0)" }
        let store = app.store(TableRule(table: "posts", column: "author", action: .delete))
        let mine = "SELECT count(*) FROM posts WHERE substr(author, 6)::int < 1000"
        let others = """
            SELECT count(*), md5(string_agg(id || body, ',' ORDER BY id)) FROM posts
            WHERE substr(author, 6)::int >= 1000
            """
        let before = try app.sql(others)
        #expect(try await Self.replay(store, users, cutoff: present) == 1000)
        #expect(try app.sql(mine) == ["0"])
        try app.sql("TRUNCATE posts; INSERT INTO posts SELECT * FROM backup")
        #expect(try app.sql(mine) == ["3000"])
        #expect(try await Self.replay(store, users, cutoff: present) == 1000)
        #expect(try app.sql(mine) == ["0"])
        #expect(try app.sql(others) == before)
        #expect(try await Self.replay(store, users, cutoff: present) == 0)
    }

    @Test("Cloud Storage: of a thousand erased users that are there again, all are erased again")
    func cloudStorage() async throws {
        try await GoogleBench.with { bench in
            for user in 0..<1100 { bench.sandbox.add(CloudObject("u/user-\(user)/a.png")) }
            let store = try CloudStorageStoreTests.store(bench)
            let users = Self.erased.map { "user-\($0)" }
            #expect(try await Self.replay(store, users, cutoff: GoogleBench.now) == 1000)
            let left = bench.sandbox.objects.filter {
                $0.isLive && $0.hardDeleteMilliseconds == nil
            }
            #expect(
                Set(left.map(\.name)) == Set((1000..<1100).map { "u/user-\($0)/a.png" })
            )
        }
    }

    @Test("S3: users whose objects a restoration brings back are erased again, and nobody else")
    func s3() async throws {
        let fixture = try S3Fixture()
        func put(_ range: String) throws {
            let path = "\(fixture.bucket)/users/user-[\(range)]/pictures/a.png"
            try fixture.server.curl("PUT", path, "x", isRange: true)
        }
        /// Asked of the server itself.
        func listed() throws -> [String] {
            let path = "\(fixture.bucket)?list-type=2&prefix=users%2F"
            let answer = XMLElement(Array(try fixture.server.curl("GET", path).utf8))
            return (answer?.all("Contents") ?? []).compactMap { $0["Key"]?.text }
        }
        try put("100-111")
        let users = (100..<106).map { "user-\($0)" }
        let store = try fixture.store(prefixes: ["users/{user_id}/"])
        let cutoff = FilesFixture.now() + .seconds(3600)
        #expect(try listed().count == 12)
        #expect(try await Self.replay(store, users, cutoff: cutoff) == 6)
        #expect(try listed().count == 6)
        try put("100-105")
        #expect(try listed().count == 12)
        // The server dates them by the restoration, so they may be of a later life.
        #expect(try await Self.replay(store, users, cutoff: present) == 0)
        #expect(try await Self.replay(store, users, cutoff: cutoff) == 6)
        let left = try listed().compactMap { $0.split(separator: "-").last?.prefix { $0 != "/" } }
        #expect(left.compactMap { Int($0) }.sorted() == Array(106..<112))
        #expect(try await Self.replay(store, users, cutoff: cutoff) == 0)
        await store.shutdown()
    }

    @Test(
        "PostgreSQL: every type of id is listed in its spellings, over pages",
        arguments: [
            ("text", IDType.text, ["é", "Ab", "ab"], ["é", "Ab", "ab"]),
            ("public.citext", .text, ["Ab", "ab"], ["Ab", "ab"]),
            ("bigint", .integer, ["-7", "42"], ["-7", "42"]),
            (
                "uuid", .uuid, ["0b0e2a3c-0000-4000-8000-000000000001"],
                [
                    "0B0E2A3C-0000-4000-8000-000000000001", "0b0e2a3c-0000-4000-8000-000000000001",
                ]
            ),
            (
                "bytea", .blob, ["\\x00ff", "\\x0b0e2a3c000040008000000000000001"],
                [
                    "00FF", "00ff", "0B0E2A3C-0000-4000-8000-000000000001",
                    "0B0E2A3C000040008000000000000001", "0b0e2a3c-0000-4000-8000-000000000001",
                    "0b0e2a3c000040008000000000000001",
                ]
            ),
        ]
    )
    func types(type: String, idType: IDType, stored: [String], users: [String]) async throws {
        let values = stored.map { "('\($0)')" }.joined(separator: ", ")
        let app = try PostgreSQLFixture(
            "CREATE TABLE t(u \(type)); INSERT INTO t VALUES \(values), \(values), (NULL)"
        )
        let store = app.store(TableRule(table: "t", column: "u", idType: idType, action: .delete))
        #expect(Self.names(await store.users { _ in true }) == users.sorted())
        // The first spelling of each finds all there is.
        let orders = try users.map { try FilesFixture.order($0) }
        #expect(await store.purge(orders).count == users.count)
        #expect(try app.sql("SELECT count(*) FROM t") == ["1"])
    }

    @Test(
        "MySQL: every type of id is listed in its spellings, over pages",
        arguments: [
            (
                "varchar(40)", IDType.text, ["'é'", "'Ab'", "'ab'", "'ab '"],
                ["Ab", "ab", "ab ", "é"]
            ),
            ("varchar(40) CHARACTER SET latin1", .text, ["'é'"], ["é"]),
            ("varbinary(9)", .text, ["'é'", "'ab'"], ["ab", "é"]),
            ("bigint", .integer, ["-7", "42"], ["-7", "42"]),
            ("decimal(20,2)", .integer, ["-7", "42"], ["-7", "42"]),
            (
                "uuid", .uuid, ["'0b0e2a3c-0000-4000-8000-000000000001'"],
                [
                    "0B0E2A3C-0000-4000-8000-000000000001", "0b0e2a3c-0000-4000-8000-000000000001",
                ]
            ),
            ("varbinary(9)", .blob, ["x'00ff'"], ["00FF", "00ff"]),
        ]
    )
    func mysql(type: String, idType: IDType, stored: [String], users: [String]) async throws {
        let values = stored.map { "(\($0))" }.joined(separator: ", ")
        let app = try MySQLFixture(
            "CREATE TABLE t(u \(type)); INSERT INTO t VALUES \(values), \(values), (NULL)"
        )
        let store = app.store(TableRule(table: "t", column: "u", idType: idType, action: .delete))
        #expect(Self.names(await store.users { _ in true }) == users.sorted())
        // The first spelling of each finds all there is.
        let orders = try users.map { try FilesFixture.order($0) }
        #expect(await store.purge(orders).count == users.count)
        #expect(try app.sql("SELECT count(*) FROM t") == ["1"])
    }

    @Test("MySQL: more users than a page has are listed once", arguments: ["int", "varchar(9)"])
    func mysqlPages(type: String) async throws {
        let app = try MySQLFixture(
            "CREATE TABLE t(u \(type), KEY (u));"
                + "INSERT INTO t SELECT seq % 4500 FROM seq_1_to_9000"
        )
        let idType: IDType = type == "int" ? .integer : .text
        let store = app.store(TableRule(table: "t", column: "u", idType: idType, action: .delete))
        #expect(Set(Self.names(await store.users { _ in true })).count == 4500)
    }

    @Test("PostgreSQL: more users than a page has are listed once, kept tables left out")
    func pages() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(u int); CREATE TABLE k(u int);
            INSERT INTO t SELECT i % 4500 FROM generate_series(1, 9000) i;
            INSERT INTO k VALUES (77777);
            """
        )
        let store = app.store(
            TableRule(table: "t", column: "u", idType: .integer, action: .delete),
            TableRule(table: "k", column: "u", idType: .integer, action: .keep, reason: "tax")
        )
        let users = Self.names(await store.users { _ in true })
        #expect(users.count == 4500 && !users.contains("77777"))
    }

    @Test("PostgreSQL: a value that is too long to be an id stops no list")
    func longValue() async throws {
        let app = try PostgreSQLFixture(
            "CREATE TABLE t(u text); INSERT INTO t VALUES ('a'), (repeat('x', 70000000)), ('z')"
        )
        let store = app.store(TableRule(table: "t", column: "u", action: .delete))
        #expect(Self.names(await store.users { _ in true }) == ["a", "z"])
        #expect(await store.purge([order("a")]).first?.rowCounts == [1])
        #expect(await store.verify([order("a"), order("z")]) == [.clean, .remaining(1)])
    }

    @Test("S3: prefixes of any separator and whole keys tell their users, over pages")
    func keys() async throws {
        let fixture = try S3Fixture()
        try fixture.put("u/ann/a", "u/ann/b", "u/bob/c", "u/é &+/d", "u/loose", "other/x")
        try fixture.put("p-carl_1", "p-dora_2", "pic/a/b.png", "pic/c.jpg")
        for pageSize in [1, 2, 1000] {
            let store = try fixture.store(
                prefixes: ["u/{user_id}/", "p-{user_id}_"],
                keys: ["pic/{user_id}.png"],
                pageSize: pageSize
            )
            #expect(
                Self.names(await store.users { _ in true })
                    == ["a/b", "ann", "bob", "carl", "dora", "é &+"].sorted()
            )
            await store.shutdown()
        }
    }

    @Test("Redis: keys and members tell their users, whatever stands around the id")
    func redis() async throws {
        let fixture = try RedisFixture(database: 7)
        try fixture.set("s:ann:1", "s:ann:2", "s:bob:1", "user:carl", "user:d:e", "x:s:no:1")
        try fixture.server.cli(database: 7, "HSET", "online", "fred", "1", "gina", "2")
        try fixture.server.cli(database: 7, "SADD", "room:1", "u-hugo", "v-nobody")
        try fixture.server.cli(database: 7, "SET", "room:2", "no set")
        let store = fixture.store(
            try fixture.settings(
                ["s:{user_id}:*", "user:{user_id}"],
                [("online", "{user_id}"), ("room:*", "u-{user_id}")]
            )
        )
        let users = ["ann", "bob", "carl", "d:e", "fred", "gina", "hugo"]
        #expect(Self.names(await store.users { _ in true }) == users)
        #expect(
            Self.names(await store.users(where: Self.isErased(["bob", "zoe"]))) == ["bob"]
        )
    }

    @Test("Google's stores: folders, names, documents and keys tell their users")
    func google() async throws {
        try await GoogleBench.with { bench in
            for user in ["1", "12", "é &?#%+ä"] {
                bench.sandbox.add(CloudObject("u/\(user)/a/b.txt"))
                bench.sandbox.add(CloudDocument("users/\(user)"))
                bench.sandbox.add(value: 1, at: "users", user.replacing("#", with: "-"), "a")
            }
            bench.sandbox.add(CloudObject("pic/only.png"))
            bench.sandbox.add(CloudDocument("users/missing/private/x"))
            bench.sandbox.add(CloudDocument("shops/main/13/x"))
            let everybody: @Sendable (UserID) -> Bool = { _ in true }
            let users = ["1", "12", "é &?#%+ä"]
            for pageSize in [1, 1000] {
                let bucket = try CloudStorageStoreTests.store(
                    bench,
                    objects: ["pic/{user_id}.png"],
                    pageSize: pageSize
                )
                #expect(
                    Self.names(await bucket.users(where: everybody)) == (users + ["only"]).sorted()
                )
            }
            let documents = try FirestoreStoreTests.store(
                bench,
                documents: ["users/{user_id}", "shops/main/{user_id}/x"],
                pageSize: 2
            )
            #expect(
                Self.names(await documents.users(where: everybody))
                    == (users + ["13", "missing"]).sorted()
            )
            let tree = try RealtimeDatabaseStoreTests.store(bench)
            #expect(
                Self.names(await tree.users(where: everybody))
                    == users.map { $0.replacing("#", with: "-") }.sorted()
            )
            bench.sandbox.add(CloudDocument("posts/p", fields: ["author": "ann"]))
            let fields = try FirestoreStoreTests.store(
                bench,
                documents: ["users/{user_id}"],
                collections: ["posts where author == {user_id}"]
            )
            #expect(
                Self.names(await fields.users(where: everybody))
                    == (users + ["ann", "missing"]).sorted()
            )
            for user in users { bench.sandbox.add(CloudAccount(user)) }
            let accounts = try FirebaseAuthStoreTests.store(bench)
            #expect(Self.names(await accounts.users(where: everybody)) == users.sorted())
        }
    }
}
