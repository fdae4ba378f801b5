import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("What stands in the way of a deletion is named") struct ObstacleTests {
    private static let users = TableRule(table: "users", column: "id", action: .delete)

    @Test(
        "SQLite: foreign keys, triggers and constraints, without the text of RAISE()",
        arguments: [
            (
                "CREATE TABLE guards(owner TEXT REFERENCES users);"
                    + "INSERT INTO guards VALUES ('ann')",
                Obstacle(.foreignKey, at: "guards", name: "owner")
            ),
            (
                """
                CREATE TABLE files(id INTEGER PRIMARY KEY,
                  owner TEXT REFERENCES users ON DELETE CASCADE);
                CREATE TABLE shares(file INTEGER REFERENCES files);
                CREATE TABLE empty(owner TEXT REFERENCES users);
                INSERT INTO files VALUES (1, 'ann'); INSERT INTO shares VALUES (1);
                """, Obstacle(.foreignKey, at: "shares", name: "file")
            ),
            (
                """
                CREATE TRIGGER kept_users BEFORE DELETE ON users WHEN old.id = 'ann' BEGIN
                  SELECT RAISE(ABORT, 'ann@example.org may not go'); END;
                CREATE TRIGGER aaa AFTER INSERT ON users BEGIN SELECT 1; END;
                """, Obstacle(.trigger, at: "users", name: "kept_users")
            ),
            (
                """
                CREATE TRIGGER aaa BEFORE DELETE ON users WHEN old.id = 'x' BEGIN
                  SELECT RAISE(ABORT, 'no'); END;
                CREATE TRIGGER bbb BEFORE DELETE ON users BEGIN
                  SELECT RAISE(ABORT, 'no'); END;
                """, Obstacle(.trigger, at: "users", name: "aaa", others: ["bbb"])
            ),
            (
                """
                CREATE TABLE log(n INTEGER CONSTRAINT few CHECK (n < 1));
                CREATE TRIGGER t AFTER DELETE ON users BEGIN INSERT INTO log VALUES (1); END;
                """, Obstacle(.constraint, at: nil, name: "few")
            ),
            (
                """
                CREATE TABLE files(owner TEXT NOT NULL REFERENCES users ON DELETE SET NULL);
                INSERT INTO files VALUES ('ann');
                """, Obstacle(.constraint, at: nil, name: "files.owner")
            ),
        ]
    )
    func sqlite(hindrance: String, obstacle: Obstacle) async throws {
        let app = try AppDatabase(
            "CREATE TABLE users(id TEXT PRIMARY KEY); INSERT INTO users VALUES ('ann'), ('bob');"
                + hindrance
        )
        let answers = await app.store(Self.users).purge([order("ann")])
        #expect(answers == [.failure(.blocked(obstacle))])
        #expect(try app.texts("SELECT id FROM users") == ["\"ann\"", "\"bob\""])
        #expect(!obstacle.text.contains("ann"))
    }

    @Test(
        "MySQL: foreign keys, triggers, constraints and permissions of a trigger",
        arguments: [
            (
                "CREATE TABLE guards(owner varchar(9), CONSTRAINT owned FOREIGN KEY (owner)"
                    + " REFERENCES users(id)); INSERT INTO guards VALUES ('ann')",
                Obstacle(.foreignKey, at: "guards", name: "owned")
            ),
            (
                "CREATE TRIGGER keep_all BEFORE DELETE ON users FOR EACH ROW SIGNAL SQLSTATE"
                    + " '45000' SET MESSAGE_TEXT = 'ann may not go'",
                Obstacle(.trigger, at: "users", name: "keep_all")
            ),
            (
                "CREATE TABLE log(n int, CONSTRAINT few CHECK (n < 1)); CREATE TRIGGER t BEFORE"
                    + " DELETE ON users FOR EACH ROW INSERT INTO log VALUES (1)",
                Obstacle(.constraint, at: "users", name: "few")
            ),
            (
                "CREATE DEFINER = missing@localhost TRIGGER t BEFORE DELETE ON users FOR EACH ROW"
                    + " SET @gone = OLD.id",
                Obstacle(.permission, at: "users")
            ),
        ]
    )
    func mysql(hindrance: String, obstacle: Obstacle) async throws {
        let app = try MySQLFixture(
            "CREATE TABLE users(id varchar(9) PRIMARY KEY);"
                + "INSERT INTO users VALUES ('ann'), ('bob'); \(hindrance)"
        )
        let answers = await app.store(Self.users).purge([order("ann")])
        #expect(answers == [.failure(.blocked(obstacle))])
        #expect(try app.sql("SELECT id FROM users ORDER BY id") == ["ann", "bob"])
    }

    @Test(
        "PostgreSQL: foreign keys, triggers, constraints and permissions of a trigger",
        arguments: [
            (
                "CREATE TABLE guards(owner text CONSTRAINT owned REFERENCES users);"
                    + "INSERT INTO guards VALUES ('ann')",
                Obstacle(.foreignKey, at: "guards", name: "owned")
            ),
            (
                "CREATE TABLE late(owner text CONSTRAINT later REFERENCES users"
                    + " DEFERRABLE INITIALLY DEFERRED); INSERT INTO late VALUES ('ann')",
                Obstacle(.foreignKey, at: "late", name: "later")
            ),
            (
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN RAISE EXCEPTION '% may not go', old.id; END $$;
                CREATE TRIGGER keep_all BEFORE DELETE ON users FOR EACH ROW
                  EXECUTE FUNCTION refuse();
                """, Obstacle(.trigger, at: "users", name: "keep_all")
            ),
            (
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '45000'; END $$;
                CREATE TRIGGER keep_all BEFORE DELETE ON users FOR EACH ROW
                  EXECUTE FUNCTION refuse();
                """, Obstacle(.trigger, at: "users", name: "keep_all")
            ),
            (
                """
                CREATE TABLE log(n int CONSTRAINT few CHECK (n < 1));
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN INSERT INTO log VALUES (1); RETURN old; END $$;
                CREATE TRIGGER t BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION note();
                """, Obstacle(.constraint, at: "log", name: "few")
            ),
            (
                """
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN RAISE insufficient_privilege; END $$;
                CREATE TRIGGER t BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION note();
                """, Obstacle(.permission, at: "users", name: "note")
            ),
        ]
    )
    func postgreSQL(hindrance: String, obstacle: Obstacle) async throws {
        // The search path of our session is empty.
        let insertion = "EXECUTE format('INSERT INTO %I.log VALUES (1)', TG_TABLE_SCHEMA)"
        let app = try PostgreSQLFixture(
            "CREATE TABLE users(id text PRIMARY KEY); INSERT INTO users VALUES ('ann'), ('bob');"
                + hindrance.replacing("INSERT INTO log VALUES (1)", with: insertion)
        )
        let answers = await app.store(Self.users).purge([order("ann")])
        let named = answers.map { answer -> Obstacle? in
            guard case .failure(let failure) = answer, let found = failure.obstacle else {
                return nil
            }
            let name = found.name?.split(separator: ".").last.map(String.init)
            return Obstacle(found.kind, at: found.place, name: name)
        }
        #expect(named == [obstacle], "\(answers)")
        #expect(try app.sql("SELECT id FROM users ORDER BY id") == ["ann", "bob"])
    }
}
