import Engine
import Lifecycle
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
            IF OLD.u = 'u1' AND OLD.body = 'row 4000' THEN PERFORM pg_catalog.pg_sleep(60); END IF;
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER slow BEFORE DELETE OR UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION slow();
        """
    private let others = """
        SELECT u, count(*), md5(string_agg(id || body, ',' ORDER BY id)) FROM posts
        WHERE u NOT IN ('u0', 'u1') GROUP BY u
        """

    private func plan(_ app: PostgreSQLFixture, _ rule: TableRule) -> PostgreSQLTargetPlan {
        app.plan([rule], timeouts: (.milliseconds(700), .seconds(60)))
    }

    @Test(
        "a slow trigger: the statement is rolled back whole, its neighbours go on, a retry ends it"
    )
    func trigger() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let before = try app.sql(others)
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        let target = app.target(plan(app, rule))
        let took = await ContinuousClock().measure {
            let answers = await target.purge([order("u0"), order("u1"), order("nobody")])
            #expect(
                answers.map(\.text) == [
                    "posts delete, cutoff: none 2000", "unusable_answer",
                    "posts delete, cutoff: none 0",
                ]
            )
        }
        #expect(took < .seconds(20), "the server's limit ended it, not the trigger")
        let left = try #require(Int(app.sql("SELECT count(*) FROM posts WHERE u = 'u1'")[0]))
        #expect(left > 0 && left < 2000, "chunks before it are committed, its own is not: \(left)")
        #expect(try app.sql("SELECT count(*) FROM posts WHERE body = 'row 4000'") == ["1"])
        #expect(await target.verify([order("u1")]) == [.remaining(left)])
        #expect(await target.purge([order("u1")]).map(\.text) == ["unusable_answer"])
        #expect(await target.verify([order("u1")]) != [.clean])
        try app.sql("DROP TRIGGER slow ON posts")
        guard case .done = await target.purge([order("u1")]).first else {
            Issue.record("it does not end")
            return
        }
        #expect(await target.verify([order("u0"), order("u1")]) == [.clean, .clean])
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
        let target = app.target(plan(app, rule))
        #expect(await target.purge([order("u1")]).map(\.text) == ["unusable_answer"])
        #expect(await target.verify([order("u1")]) != [.clean])
        try app.sql("DROP TRIGGER slow ON posts")
        guard case .done = await target.purge([order("u1")]).first else {
            Issue.record("it does not end")
            return
        }
        #expect(await target.verify([order("u1")]) == [.clean])
        #expect(try app.sql("SELECT count(*) FROM posts WHERE u = 'u1' AND body ~ '^row'") == ["0"])
        #expect(try app.sql(others) == before)
    }

    @Test("a lock that is waited for longer than a statement may take")
    func lock() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let holder = try app.session()
        _ = try holder.query("BEGIN", within: .seconds(5))
        _ = try holder.query("LOCK TABLE \(app.schema).posts", within: .seconds(5))
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        let target = app.target(plan(app, rule))
        #expect(await target.purge([order("u0")]).map(\.text) == ["unusable_answer"])
        #expect(await target.verify([order("u0")]) == [.failure(.unusable)])
        _ = try holder.query("ROLLBACK", within: .seconds(5))
        #expect(
            await target.purge([order("u0")]).map(\.text) == ["posts delete, cutoff: none 2000"]
        )
        #expect(await target.verify([order("u0")]) == [.clean])
    }
}
