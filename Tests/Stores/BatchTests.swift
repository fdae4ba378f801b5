import Engine
import Foundation
import GRDB
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("Many orders at a SQLite store") struct BatchTests {
    let schema = """
        CREATE TABLE users(id TEXT PRIMARY KEY);
        CREATE TABLE posts(u TEXT, body TEXT); CREATE INDEX pu ON posts(u);
        CREATE TABLE guards(u TEXT REFERENCES users);
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 50)
        INSERT INTO users SELECT 'u' || i FROM c;
        INSERT INTO posts SELECT id, 'x' FROM users; INSERT INTO posts SELECT id, 'y' FROM users;
        """
    let rules = [
        TableRule(table: "users", column: "id", action: .delete),
        TableRule(table: "posts", column: "u", action: .delete),
    ]
    let done = "users delete, cutoff: none 1; posts delete, cutoff: none 2"

    @Test("a failing order keeps its rows and spoils none of its neighbours")
    func failingOrder() async throws {
        let app = try AppDatabase(schema + "INSERT INTO guards VALUES ('u7'), ('u30')")
        let store = app.store(rules[0], rules[1])
        let answers = await store.purge((1...50).map { order("u\($0)") })
        let guards = PurgeAnswer.failure(
            .blocked(Obstacle(.foreignKey, at: "guards", name: "u"))
        )
        for (index, answer) in answers.enumerated() {
            let isBlocked = [6, 29].contains(index)
            #expect(isBlocked ? answer == guards : answer.text == done)
        }
        #expect(try app.texts("SELECT id FROM users") == ["\"u7\"", "\"u30\""])
        #expect(try app.integer("SELECT count(*) FROM posts") == 4)
    }

    @Test(
        "neither does a constraint that only the COMMIT sees, nor a trigger that rolls all back",
        arguments: [
            (
                "CREATE TABLE late(u TEXT REFERENCES users DEFERRABLE INITIALLY DEFERRED); "
                    + "INSERT INTO late VALUES ('u7')",
                Obstacle(.foreignKey, at: "late", name: "u")
            ),
            (
                "CREATE TRIGGER t BEFORE DELETE ON posts WHEN old.u = 'u7' BEGIN "
                    + "SELECT RAISE(ROLLBACK, 'no'); END",
                Obstacle(.trigger, at: "posts", name: "t")
            ),
            (
                "CREATE TRIGGER t BEFORE DELETE ON posts WHEN old.u = 'u7' BEGIN "
                    + "SELECT RAISE(FAIL, 'no'); END",
                Obstacle(.trigger, at: "posts", name: "t")
            ),
        ]
    )
    func failingCommit(hindrance: String, obstacle: Obstacle) async throws {
        let app = try AppDatabase(schema + hindrance)
        let store = app.store(rules[0], rules[1])
        let answers = await store.purge((1...20).map { order("u\($0)") })
        for (index, answer) in answers.enumerated() {
            let isFit = index == 6 ? answer == .failure(.blocked(obstacle)) : answer.text == done
            #expect(isFit, "\(index)")
        }
        #expect(try app.texts("SELECT id FROM users WHERE id IN ('u6', 'u7', 'u8')") == ["\"u7\""])
        #expect(try app.integer("SELECT count(*) FROM posts WHERE u = 'u7'") == 2)
    }

    @Test("a slow clock gives every order a transaction of its own, and rests between them")
    func budget() async throws {
        let app = try AppDatabase(schema, wal: true)
        let rests = Mutex<[Duration]>([])
        let clock = StoreClock.hasty { pause in rests.withLock { $0.append(pause) } }
        let store = app.store(rules[0], rules[1], clock: clock)
        let answers = await store.purge((1...5).map { order("u\($0)") })
        #expect(answers.map(\.text) == Array(repeating: done, count: 5))
        #expect(rests.withLock { $0.count } == 0, "30 ms between transactions are rest enough")
        let still = Mutex<Duration>(.zero)
        let busy = StoreClock(
            wall: { present },
            uptime: {
                still.withLock {
                    $0 += .milliseconds(4)
                    return $0
                }
            },
            rest: { pause in rests.withLock { $0.append(pause) } },
            entropy: { 1 }
        )
        _ = await app.store(rules[0], rules[1], clock: busy).purge(
            (6...40).map { order("u\($0)") }
        )
        #expect(rests.withLock { $0.count } > 0)
        #expect(rests.withLock { $0 }.allSatisfy { $0 <= SQLiteLimits.rest })
    }

    @Test("a user with many rows leaves gaps at least as long as the slow transactions before them")
    func gaps() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT); CREATE INDEX pu ON p(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
            INSERT INTO p SELECT 'a' FROM c;
            """
        )
        let rests = Mutex<[Duration]>([])
        let clock = StoreClock.hasty { pause in rests.withLock { $0.append(pause) } }
        let store = app.store(TableRule(table: "p", column: "u", action: .delete), clock: clock)
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 2000"])
        #expect(rests.withLock { $0.count } > 2)
        // Each look at the clock takes 30 ms, and a transaction has several.
        #expect(rests.withLock { $0 }.allSatisfy { $0 >= .milliseconds(90) })
    }

    @Test("an interruption after any transaction leaves work that the next call finishes")
    func interruption() async throws {
        let whole = "a delete, cutoff: none 2000; m anonymize, cutoff: none 2000"
        for attempt in 1...12 {
            let app = try AppDatabase(
                """
                CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT); CREATE INDEX au ON a(u);
                CREATE TABLE m(id INTEGER PRIMARY KEY, u TEXT, mail TEXT); CREATE INDEX mu ON m(u);
                WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4000)
                INSERT INTO a(u) SELECT iif(i % 2, 'a', 'b') FROM c;
                INSERT INTO m(u, mail) SELECT u, 'mail' || id FROM a;
                """
            )
            let others = try app.texts("SELECT * FROM a, m USING (id) WHERE a.u = 'b'")
            let count = Mutex(0)
            let clock = StoreClock.hasty { _ in
                let now = count.withLock {
                    $0 += 1
                    return $0
                }
                if now == attempt { throw CancellationError() }
            }
            let mask = TableAction.anonymize([ColumnMask(column: "mail", strategy: .hash)])
            let store = app.store(
                TableRule(table: "a", column: "u", action: .delete),
                TableRule(table: "m", column: "u", action: mask),
                clock: clock
            )
            let first = await store.purge([order("a")])
            #expect(first[0].text == (count.withLock { $0 } < attempt ? whole : "lost"))
            guard case .done = await store.purge([order("a")])[0] else {
                Issue.record("not done after the interruption at \(attempt)")
                continue
            }
            #expect(await store.verify([order("a")]) == [.clean])
            #expect(try app.texts("SELECT * FROM a, m USING (id) WHERE a.u = 'b'") == others)
            #expect(try app.texts("PRAGMA integrity_check") == ["\"ok\""])
        }
    }

    @Test("a cancelled task answers and leaves no transaction open")
    func cancellation() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(rules[0], rules[1])
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await store.purge([order("u1")])
        }
        #expect(await task.value == [.failure(.unreachable)])
        try app.execute("DELETE FROM users WHERE id = 'u2'")
        #expect(await store.purge([order("u1")]).map(\.text) == [done])
    }

    @Test("no orders, no answers; the same user twice is done twice")
    func edges() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(rules[0], rules[1])
        #expect(await store.purge([]) == [])
        #expect(await store.verify([]) == [])
        let answers = await store.purge([order("u1"), order("u1"), order("nobody")])
        let none = "users delete, cutoff: none 0; posts delete, cutoff: none 0"
        #expect(answers.map(\.text) == [done, none, none])
    }
}
