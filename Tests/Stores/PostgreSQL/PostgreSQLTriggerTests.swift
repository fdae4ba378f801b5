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
        let store = app.store(users)
        for user in ["ann", "bob"] {
            let done = await store.purge([order(user)]).map(\.text)
            #expect(done == ["users delete, cutoff: none 1"])
            #expect(await store.verify([order(user)]) == [.clean])
        }
        #expect(try app.sql("SELECT count(*) >= 2 FROM log") == ["t"])
    }

    @Test(
        "a trigger that is newer than the session finds its tables, and one that refuses is named",
        arguments: [("INSERT INTO log VALUES (1)", false), ("RAISE EXCEPTION 'no'", true)]
    )
    func newer(body: String, refuses: Bool) async throws {
        let app = try PostgreSQLFixture("SELECT 1")
        // Other tests have triggers in theirs.
        try app.server.psql("CREATE DATABASE \(app.schema)")
        let place = "host=\(app.server.folder) port=\(app.server.port) user=owner"
        let plan = app.plan([users], conninfo: "\(place) dbname=\(app.schema)")
        let owner = try PostgreSQLSession.open(
            plan,
            signal: nil,
            uptime: StoreClock.patient().uptime
        )
        func run(_ statements: String...) throws {
            for sql in statements { _ = try owner.query(sql, within: .seconds(120)) }
        }
        try run(
            "CREATE SCHEMA \(app.schema)",
            "SET search_path = \(app.schema)",
            "CREATE TABLE users(id text PRIMARY KEY)",
            "CREATE TABLE log(n int)",
            "INSERT INTO users VALUES ('ann'), ('bob'), ('eve')"
        )
        let store = app.store(plan)
        let done = "users delete, cutoff: none 1"
        #expect(await store.purge([order("ann")]).map(\.text) == [done])
        try run(
            "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN \(body); RETURN old; END $$",
            "CREATE TRIGGER t BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION note()"
        )
        let answers = await store.purge([order("bob"), order("eve")])
        let refused = PurgeAnswer.failure(
            .blocked(Obstacle(.trigger, at: "users", name: "t"))
        )
        #expect(refuses ? answers == [refused, refused] : answers.map(\.text) == [done, done])
        let count = try owner.query("SELECT count(*) FROM log", within: .seconds(120)).integer(0)
        #expect(count == (refuses ? 0 : 2))
    }

    /// A purge of three tables: each of our statements has our path, whatever came before it.
    @Test("nothing of the application stands in for the server's, also after a trigger")
    func standsIn() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE SCHEMA own; CREATE TABLE own.log(n int);
            CREATE FUNCTION own.never(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false';
            CREATE OPERATOR own.= (LEFTARG = text, RIGHTARG = text, PROCEDURE = own.never);
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN INSERT INTO log VALUES (1); RETURN NULL; END $$;
            CREATE TABLE a(id text); CREATE TABLE b(id text); CREATE TABLE c(id text);
            INSERT INTO a VALUES ('ann');
            INSERT INTO b SELECT * FROM a; INSERT INTO c SELECT * FROM a;
            CREATE CONSTRAINT TRIGGER t AFTER DELETE ON a DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW EXECUTE FUNCTION note();
            CREATE TRIGGER t AFTER DELETE ON b FOR EACH ROW EXECUTE FUNCTION note();
            CREATE ROLE pathed LOGIN SUPERUSER;
            ALTER ROLE pathed SET search_path = own, pg_catalog, public;
            """
        )
        let rules = ["a", "b", "c"].map { TableRule(table: $0, column: "id", action: .delete) }
        let store = app.store(app.plan(rules, conninfo: "\(app.socket) user=pathed"))
        let answers = await store.purge([order("ann")])
        #expect(
            answers.map(\.text) == [
                "a delete, cutoff: none 1; b delete, cutoff: none 1; c delete, cutoff: none 1"
            ]
        )
        #expect(await store.verify([order("ann")]) == [.clean])
        #expect(try app.sql("SELECT count(*) FROM own.log") == ["2"])
    }

    @Test("a temporary table stands in for none of the application's")
    func temporary() async throws {
        let body =
            "CREATE TEMP TABLE IF NOT EXISTS log(n int) ON COMMIT DROP; INSERT INTO log VALUES (1)"
        let trigger = "TRIGGER t BEFORE DELETE ON users FOR EACH ROW"
        let app = try PostgreSQLFixture(Self.schema(body, trigger))
        let done = await app.store(users).purge([order("ann")]).map(\.text)
        #expect(done == ["users delete, cutoff: none 1"])
        #expect(try app.sql("SELECT count(*) FROM log") == ["1"])
    }

    @Test(
        "a name that is not found is shown, and nothing that RAISE or EXECUTE composes",
        arguments: [
            ("INSERT INTO nowhere VALUES (1)", "relation \"nowhere\" does not exist"),
            ("PERFORM missing FROM log", "column \"missing\" does not exist"),
            ("PERFORM nowhere(1)", "function nowhere(integer) does not exist"),
            ("IF nextval('seq_' || old.id) > 0 THEN RETURN old; END IF", nil),
            ("IF old.id::regclass IS NOT NULL THEN RETURN old; END IF", nil),
            ("EXECUTE format('INSERT INTO %I VALUES (1)', old.id)", nil),
            ("RAISE undefined_table USING MESSAGE = old.id || ' may not go'", nil),
        ] as [(String, String?)]
    )
    func missing(_ body: String, _ cause: String?) async throws {
        let trigger = "TRIGGER t BEFORE DELETE ON users FOR EACH ROW"
        let app = try PostgreSQLFixture(Self.schema(body, trigger))
        let obstacle = Obstacle(.trigger, at: "users", name: "t", cause: cause)
        let answers = await app.store(users).purge([order("ann")])
        #expect(answers == [.failure(.blocked(obstacle))])
        #expect(!obstacle.text.contains("ann"))
        #expect(try app.sql("SELECT count(*) FROM users") == ["2"])
    }
}
