import Engine
import Lifecycle
import TestSupport
import Testing

@testable import Stores

@Suite("A PostgreSQL statement that takes too long", .serialized)
struct PostgreSQLTimeoutTests {
    /// A trigger sleeps at one of the rows: in the third chunk of 700 or more.
    private static let schema = """
        CREATE TABLE posts(id bigserial PRIMARY KEY, u text NOT NULL, body text);
        CREATE INDEX ON posts(u);
        INSERT INTO posts(u, body) SELECT 'u' || (i % 3), 'row ' || i
            FROM generate_series(0, 5999) i;
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF OLD.u = 'u1' AND OLD.body = 'row 4000' THEN PERFORM pg_catalog.pg_sleep(300); END IF;
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER slow BEFORE DELETE OR UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION slow();
        """
    private let others = """
        SELECT u, count(*), md5(string_agg(id || body, ',' ORDER BY id)) FROM posts
        WHERE u NOT IN ('u0', 'u1') GROUP BY u
        """

    /// Seconds for a statement, the first of which only the sleep takes longer than: on a machine
    /// that is held up it may be a later one.
    private static let limits = [2, 16, 128]

    private func store(
        _ app: PostgreSQLFixture,
        _ rule: TableRule,
        limit: Duration = .milliseconds(700)
    ) -> PostgreSQLStore {
        app.store(app.plan([rule], timeouts: (limit, .seconds(300))))
    }

    @Test(
        "a slow trigger: the statement is rolled back whole, its neighbours go on, a retry ends it"
    )
    func trigger() async throws {
        var app = try PostgreSQLFixture(Self.schema)
        let before = try app.sql(others)
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        let users = ["u0", "u1", "nobody"].map { order($0) }
        let expected = [
            "posts delete, cutoff: none 2000", "unusable_answer", "posts delete, cutoff: none 0",
        ]
        var answers: [String] = []
        let took = try await ContinuousClock().measure {
            for limit in Self.limits where answers != expected {
                app = try PostgreSQLFixture(Self.schema)
                answers = await self.store(app, rule, limit: .seconds(limit)).purge(users)
                    .map(\.text)
            }
        }
        #expect(answers == expected)
        if Bars.areHeld {
            #expect(took < .seconds(20), "the server's limit ended it, not the trigger")
        }
        let left = try #require(Int(app.sql("SELECT count(*) FROM posts WHERE u = 'u1'")[0]))
        #expect(left > 0 && left < 2000, "chunks before it are committed, its own is not: \(left)")
        #expect(try app.sql("SELECT count(*) FROM posts WHERE body = 'row 4000'") == ["1"])
        let store = app.store(rule)
        #expect(await store.verify([order("u1")]) == [.remaining(left)])
        let hasty = self.store(app, rule)
        #expect(await hasty.purge([order("u1")]).map(\.text) == ["unusable_answer"])
        #expect(await store.verify([order("u1")]) != [.clean])
        try app.sql("DROP TRIGGER slow ON posts")
        guard case .done = await store.purge([order("u1")]).first else {
            Issue.record("it does not end")
            return
        }
        #expect(await store.verify([order("u0"), order("u1")]) == [.clean, .clean])
        #expect(try app.sql(others) == before)
    }

    @Test("a mask that times out leaves no row half masked")
    func mask() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let before = try app.sql(others)
        let rule = TableRule(
            table: "posts",
            column: "u",
            action: .anonymize([ColumnMask(column: "body", strategy: .random)]),
            reason: "tax"
        )
        let store = app.store(rule)
        let hasty = self.store(app, rule)
        #expect(await hasty.purge([order("u1")]).map(\.text) == ["unusable_answer"])
        #expect(await store.verify([order("u1")]) != [.clean])
        try app.sql("DROP TRIGGER slow ON posts")
        guard case .done = await store.purge([order("u1")]).first else {
            Issue.record("it does not end")
            return
        }
        #expect(await store.verify([order("u1")]) == [.clean])
        #expect(try app.sql("SELECT count(*) FROM posts WHERE u = 'u1' AND body ~ '^row'") == ["0"])
        #expect(try app.sql(others) == before)
    }

    @Test("a lock that is waited for longer than a statement may take")
    func lock() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let holder = try app.session()
        _ = try holder.query("BEGIN", within: .seconds(120))
        _ = try holder.query("LOCK TABLE \(app.schema).posts", within: .seconds(120))
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        let store = app.store(rule)
        let hasty = self.store(app, rule)
        #expect(await hasty.purge([order("u0")]).map(\.text) == ["unusable_answer"])
        #expect(await hasty.verify([order("u0")]) == [.failure(.unusable)])
        _ = try holder.query("ROLLBACK", within: .seconds(120))
        #expect(
            await store.purge([order("u0")]).map(\.text) == ["posts delete, cutoff: none 2000"]
        )
        #expect(await store.verify([order("u0")]) == [.clean])
    }
}
