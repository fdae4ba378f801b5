import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

/// A connection on which every statement takes too long.
private struct SlowConnection: SQLConnection {
    typealias Dialect = SQLiteDialect

    func rows(_ sql: String, _ parameters: SQLParameters) throws(SQLError) -> [[BoundValue?]] {
        throw SQLError(.timeout, store: StoreName("app-db"))
    }
}

@Suite("Values by which rows are found, in another spelling", .serialized)
struct SpelledValueTests {
    private static let sql = """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT UNIQUE);
        CREATE TABLE letters(n INTEGER PRIMARY KEY, email TEXT, made INTEGER);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, u TEXT REFERENCES users);
        INSERT INTO users VALUES ('a', 'Anna@x.example'), ('b', 'bob@x.example');
        INSERT INTO orders VALUES (1, 'a'), (2, 'b');
        INSERT INTO letters VALUES (1, 'Anna@x.example', 1600000000),
            (2, 'bob@x.example', 1600000000), (3, NULL, 1600000000);
        """
    private static let rules = [
        SchemaShape.rule("users", "id"), SchemaShape.rule("orders", "u", via: "users.id"),
        SchemaShape.rule("letters", "email", via: "users.email", dated: true),
    ]
    private static let named = EffectFailure.blocked(
        Obstacle(.spelling, at: "letters", name: "email")
    )
    private static let tables = ["users", "letters", "orders"]

    static let spellings = [
        "anna@x.example", "ANNA@X.EXAMPLE", " Anna@x.example", "Anna@x.example ",
        "  anna@X.example  ",
    ]

    @Test(
        "a row with the user's address in another spelling keeps the request open",
        arguments: spellings,
        ShapeKind.allCases
    )
    func blocked(spelling: String, kind: ShapeKind) async throws {
        // A collation that ignores blanks at the end finds the row, and it goes.
        guard kind != .mysql || spelling != "Anna@x.example " else { return }
        let app = try kind.open(Self.sql)
        let store = app.store(Self.rules)
        #expect(await store.diagnose() == [])
        try app.run("INSERT INTO letters VALUES (4, '\(spelling)', 1600000000)")
        let before = try app.dump(Self.tables)
        #expect(await store.purge([order("a")]) == [.failure(Self.named)])
        // What leads there stays, for the next try.
        #expect(try app.dump(Self.tables) == before)
        try app.run("UPDATE letters SET email = 'Anna@x.example' WHERE n = 4")
        _ = await store.purge([order("a")])
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.dump("letters").map { $0.prefix(2) } == ["2|", "3|"])
    }

    @Test("other orders of the call go on", arguments: ShapeKind.allCases)
    func others(kind: ShapeKind) async throws {
        let app = try kind.open(Self.sql)
        try app.run("INSERT INTO letters VALUES (4, 'ANNA@x.example', 1600000000)")
        let store = app.store(Self.rules)
        let answers = await store.purge([order("b"), order("a"), order("c")])
        #expect(answers[1] == .failure(Self.named))
        #expect(await store.verify([order("b"), order("c")]) == [.clean, .clean])
        #expect(try app.dump("users") == ["a|Anna@x.example"])
    }

    @Test("a row that may be another user's is left", arguments: ShapeKind.allCases)
    func shared(kind: ShapeKind) async throws {
        let app = try kind.open(Self.sql)
        try app.run("INSERT INTO users VALUES ('d', 'anna@x.example')")
        try app.run(
            "INSERT INTO letters VALUES (4, 'anna@x.example', 1600000000),"
                + " (5, 'ANNA@x.example', 1600000000)"
        )
        let store = app.store(Self.rules)
        _ = await store.purge([order("a")])
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.dump("letters").map { $0.prefix(2) } == ["2|", "3|", "4|", "5|"])
    }

    @Test("a row that goes by another rule does not count", arguments: ShapeKind.allCases)
    func ruled(kind: ShapeKind) async throws {
        let notes = """
            CREATE TABLE notes(n INTEGER PRIMARY KEY, u TEXT, email TEXT);
            INSERT INTO notes VALUES (1, 'a', 'ANNA@x.example'), (2, 'b', 'bob@x.example');
            """
        let app = try kind.open(Self.sql + notes)
        let rules = [
            SchemaShape.rule("notes", "u"), SchemaShape.rule("notes", "email", via: "users.email"),
        ]
        let store = app.store(Self.rules + rules)
        _ = await store.purge([order("a")])
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.dump("notes") == ["2|b|bob@x.example"])
        try app.run("INSERT INTO notes VALUES (3, 'c', 'BOB@x.example')")
        let named = Obstacle(.spelling, at: "notes", name: "email")
        #expect(await store.purge([order("b")]) == [.failure(.blocked(named))])
    }

    @Test("a newer row does not keep the request open", arguments: ShapeKind.allCases)
    func newer(kind: ShapeKind) async throws {
        let app = try kind.open(Self.sql)
        let later = present.unixMilliseconds / 1000 + 10
        try app.run("INSERT INTO letters VALUES (4, 'ANNA@x.example', \(later))")
        let store = app.store(Self.rules)
        guard case .done(let counts)? = await store.purge([order("a")]).first else {
            Issue.record("not done")
            return
        }
        #expect(!counts.isNotLookedFor)
        #expect(try app.dump("letters").map { $0.prefix(2) } == ["2|", "3|", "4|"])
    }

    private static func plan(_ app: AppDatabase) throws -> SQLPlan<SQLiteDialect> {
        try app.queue.read { db in
            let schema = try SQLiteCatalog(db: db).read()
            var maker = SQLPlanMaker<SQLiteDialect>(WorkRules(tables: rules), schema)
            let plan = maker.make()
            return try #require(plan)
        }
    }

    @Test("each such column costs one statement, and ids cost none")
    func cost() throws {
        let plan = try Self.plan(try AppDatabase(Self.sql))
        let asked = plan.tables.filter { $0.spelledSQL != nil }
        #expect(asked.map(\.table) == ["letters"])
    }

    @Test("an index on the column without blanks and in lower case serves the statement")
    func index() throws {
        let app = try AppDatabase(Self.sql + "CREATE INDEX le ON letters(lower(trim(email)));")
        let sql = try #require(try Self.plan(app).tables.compactMap(\.spelledSQL).first)
        let bound = sql.replacing("?1", with: "'a'").replacing("?2", with: "0")
        let steps = try app.texts("EXPLAIN QUERY PLAN " + bound)
        #expect(steps.contains { $0.contains("USING INDEX le") }, "\(steps)")
    }

    @Test("where looking takes too long, the rule counts as not looked for")
    func slow() throws {
        let plan = try Self.plan(try AppDatabase(Self.sql))
        let name = StoreName("app-db")
        let entries = try SlowConnection().look(at: order("a"), plan, name)
        #expect(entries.map(\.name) == ["letters"])
        #expect(entries.map(\.action) == [.unsearched("email")])
        #expect(PurgeCounts(entries: entries).isNotLookedFor)
    }
}
