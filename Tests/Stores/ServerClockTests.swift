import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

/// What a store at a server does for so long and no longer.
@Suite("The clock of a store at a server") struct ServerClockTests {
    private static let schema = """
        CREATE TABLE posts (id integer PRIMARY KEY, u varchar(20));
        INSERT INTO posts VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
        """
    private static let oneRow = "posts delete, cutoff: none 1"
    private static let kinds = [ShapeKind.postgresql, .mysql]
    private static let rule = TableRule(table: "posts", column: "u", action: .delete)

    private static func store(
        _ kind: ShapeKind,
        _ clock: StoreClock,
        _ seen: @escaping @Sendable (String) -> Void
    ) throws -> any PurgeStore {
        let note = { @Sendable (statement: String) in
            seen(statement)
            return true
        }
        let app = try kind.open(schema)
        if let app = app as? PostgreSQLFixture {
            return app.store(app.plan([rule]), clock: clock, beforeStatement: note)
        }
        let mysql = try #require(app as? MySQLFixture)
        return mysql.store(mysql.plan([rule]), clock: clock, beforeStatement: note)
    }

    @Test("users share a transaction only while it is short", arguments: kinds)
    func groups(kind: ShapeKind) async throws {
        for (clock, least) in [(StoreClock.still(), 1), (.hasty(), 4)] {
            let commits = Mutex(0)
            let store = try Self.store(kind, clock) { statement in
                if statement == "COMMIT" { commits.withLock { $0 += 1 } }
            }
            let answers = await store.purge(["a", "b", "c", "d"].map { order($0) })
            #expect(answers.map(\.text) == Array(repeating: Self.oneRow, count: 4))
            #expect(commits.withLock { $0 } == least)
        }
    }

    @Test("the plan under a hold is kept beside the one without", arguments: kinds)
    func holds(kind: ShapeKind) async throws {
        let reads = Mutex(0)
        let parts = ["FROM pg_constraint k", "FROM information_schema.STATISTICS"]
        let store = try Self.store(kind, .still()) { statement in
            guard parts.contains(where: { statement.contains($0) }) else { return }
            reads.withLock { $0 += 1 }
        }
        let hold = RowHoldTests.hold("posts", [("u", ["z"])])
        for user in ["a", "b", "c"] {
            let answers = await store.purge([order(user, holds: [hold])])
            #expect(answers.map(\.text) == [Self.oneRow])
            #expect(await store.verify([order(user)]) == [.clean])
        }
        #expect(reads.withLock { $0 } == 2)
    }

    @Test("a plan and a session that are old are made again", arguments: kinds)
    func ages(kind: ShapeKind) async throws {
        let statements = Mutex(0)
        let hours = Mutex(0)
        let real = StoreClock.patient()
        let clock = StoreClock(
            wall: real.wall,
            uptime: { real.uptime() + .seconds(3600 * hours.withLock { $0 }) },
            rest: real.rest,
            entropy: real.entropy
        )
        let store = try Self.store(kind, clock) { _ in statements.withLock { $0 += 1 } }
        func count(_ user: String) async -> Int {
            let before = statements.withLock { $0 }
            #expect(await store.purge([order(user)]).map(\.text) == [Self.oneRow])
            return statements.withLock { $0 } - before
        }
        let first = await count("a")
        let kept = await count("b")
        hours.withLock { $0 += 1 }
        let old = await count("c")
        #expect(kept < first && old > kept, "\(first), \(kept), \(old)")
    }
}
