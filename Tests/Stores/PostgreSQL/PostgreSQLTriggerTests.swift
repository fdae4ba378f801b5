import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Triggers of the application in PostgreSQL", .serialized) struct PostgreSQLTriggerTests {
    private let users = TableRule(table: "users", column: "id", action: .delete)

    private static func schema(_ body: String, _ trigger: String) -> String {
        """
        CREATE TABLE users(id text PRIMARY KEY); CREATE TABLE log(n int);
        INSERT INTO users VALUES ('ann'), ('bob');
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN \(body); IF TG_LEVEL = 'ROW' THEN RETURN old; END IF; RETURN NULL; END $$;
        CREATE \(trigger) EXECUTE FUNCTION note();
        """
    }

    @Test(
        "a function that names a table without its schema finds it",
        arguments: [
            "TRIGGER t BEFORE DELETE ON users FOR EACH ROW",
            "TRIGGER t AFTER DELETE ON users FOR EACH ROW",
            "TRIGGER t AFTER DELETE ON users FOR EACH STATEMENT",
            "CONSTRAINT TRIGGER t AFTER DELETE ON users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW",
        ]
    )
    func unqualified(_ trigger: String) async throws {
        let app = try PostgreSQLFixture(Self.schema("INSERT INTO log VALUES (1)", trigger))
        let target = app.target(users)
        for user in ["ann", "bob"] {
            let done = await target.purge([order(user)]).map(\.text)
            #expect(done == ["users delete, cutoff: none 1"])
            #expect(await target.verify([order(user)]) == [.clean])
        }
        #expect(try app.sql("SELECT count(*) >= 2 FROM log") == ["t"])
    }

    @Test("a temporary table stands in for none of the application's")
    func temporary() async throws {
        let body =
            "CREATE TEMP TABLE IF NOT EXISTS log(n int) ON COMMIT DROP; INSERT INTO log VALUES (1)"
        let trigger = "TRIGGER t BEFORE DELETE ON users FOR EACH ROW"
        let app = try PostgreSQLFixture(Self.schema(body, trigger))
        let done = await app.target(users).purge([order("ann")]).map(\.text)
        #expect(done == ["users delete, cutoff: none 1"])
        #expect(try app.sql("SELECT count(*) FROM log") == ["1"])
    }

    @Test(
        "a name that is not found is shown, and nothing that RAISE or EXECUTE composes",
        arguments: [
            ("INSERT INTO nowhere VALUES (1)", "relation \"nowhere\" does not exist"),
            ("PERFORM missing FROM log", "column \"missing\" does not exist"),
            ("PERFORM nowhere(1)", "function nowhere(integer) does not exist"),
            ("EXECUTE format('INSERT INTO %I VALUES (1)', old.id)", nil),
            ("RAISE undefined_table USING MESSAGE = old.id || ' may not go'", nil),
        ] as [(String, String?)]
    )
    func missing(_ body: String, _ cause: String?) async throws {
        let trigger = "TRIGGER t BEFORE DELETE ON users FOR EACH ROW"
        let app = try PostgreSQLFixture(Self.schema(body, trigger))
        let obstacle = Obstacle(.trigger, at: "users", name: "t", cause: cause)
        let answers = await app.target(users).purge([order("ann")])
        #expect(answers == [.failure(.blocked(obstacle))])
        #expect(!obstacle.text.contains("ann"))
        #expect(try app.sql("SELECT count(*) FROM users") == ["2"])
    }
}
