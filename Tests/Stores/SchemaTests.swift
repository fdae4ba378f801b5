import Engine
import Foundation
import GRDB
import Lifecycle
import Testing

@testable import Stores

@Suite("A SQLite store and the application's schema") struct SchemaTests {
    @Test("children go before parents, whatever the configured order")
    func foreignKeyOrder() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE posts(id INTEGER PRIMARY KEY,
              u TEXT NOT NULL REFERENCES users ON DELETE RESTRICT);
            CREATE TABLE likes(u TEXT REFERENCES users, post INTEGER REFERENCES posts);
            INSERT INTO users VALUES ('a'), ('b'); INSERT INTO posts VALUES (1, 'a'), (2, 'b');
            INSERT INTO likes VALUES ('a', 1), ('a', 2), ('b', 2);
            """
        )
        let store = app.store(
            TableRule(table: "users", column: "id", action: .delete),
            TableRule(table: "posts", column: "u", action: .delete),
            TableRule(table: "likes", column: "u", action: .delete)
        )
        #expect(
            await store.purge([order("a")]).map(\.text) == [
                "likes delete, cutoff: none 2; posts delete, cutoff: none 1; "
                    + "users delete, cutoff: none 1"
            ]
        )
        #expect(try app.texts("SELECT * FROM likes") == ["\"b\"|2"])
        #expect(try app.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0)
    }

    @Test("a deletion that cascades into rows to be kept is a problem")
    func cascadeIntoKept() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE accounts(id INTEGER PRIMARY KEY,
              u TEXT REFERENCES users ON DELETE CASCADE);
            CREATE TABLE invoices(u TEXT, name TEXT,
              account INTEGER REFERENCES accounts ON DELETE CASCADE);
            INSERT INTO users VALUES ('a'); INSERT INTO accounts VALUES (1, 'a');
            INSERT INTO invoices VALUES ('a', 'Ada', 1);
            """
        )
        let store = app.store(
            TableRule(table: "users", column: "id", action: .delete),
            TableRule(table: "invoices", column: "u", action: .keep, reason: "tax law, 10 years")
        )
        #expect(
            await store.diagnose() == [
                "deleting from 'users' would cascade into 'invoices', whose rows are to be kept"
            ]
        )
        #expect(await store.purge([order("a")]) == [.failure(.misconfigured)])
        #expect(try app.integer("SELECT count(*) FROM invoices") == 1)
    }

    @Test("a foreign key is named once, however many rules lead to it")
    func oneFindingForEachKey() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY, name TEXT);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, u TEXT REFERENCES users ON DELETE CASCADE);
            CREATE TABLE likes(post INTEGER REFERENCES posts ON DELETE CASCADE);
            CREATE TABLE marks(post INTEGER REFERENCES posts);
            CREATE TABLE kept(u TEXT, post INTEGER REFERENCES posts);
            """
        )
        let users = TableRule(table: "users", column: "id", action: .delete)
        var named = users
        named.conditions = [ColumnCondition(column: "name", test: .equals(.text("x")))]
        let posts = TableRule(table: "posts", column: "u", action: .delete)
        let found = await app.store(users, named, posts).inspect(withOutages: true)
        #expect(found.advice.map(\.text).count { $0.contains("'likes'") } == 1, "\(found.advice)")
        #expect(found.uncovered.map(\.name).sorted() == ["kept.post", "marks.post"])
        let texts = found.advice.map(\.text)
        #expect(!texts.contains { $0.contains("'marks'") || $0.contains("'kept'") })
        let kept = TableRule(table: "kept", column: "u", action: .keep, reason: "law")
        let refused = await app.store(users, named, posts, kept).inspect(withOutages: true)
        #expect(refused.problems.count == 1, "\(refused.problems)")
    }

    @Test("of a row with several references the advice takes each away, and says what delete does")
    func severalReferences() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE pages(id INTEGER PRIMARY KEY, made_by TEXT NOT NULL REFERENCES users,
              changed_by TEXT REFERENCES users);
            CREATE TABLE visits(id INTEGER PRIMARY KEY, u TEXT REFERENCES users);
            """
        )
        let store = app.store(TableRule(table: "users", column: "id", action: .delete))
        let found = await store.inspect(withOutages: true).uncovered
        let pages = found.map(\.reason).filter { $0.contains("'pages'") }
        #expect(pages.count == 2, "\(found)")
        let null = "set = { changed_by = { strategy = \"null\" } }"
        let constant = "set = { made_by = { strategy = \"constant\""
        #expect(pages.contains { $0.contains(null) } && pages.contains { $0.contains(constant) })
        for sentence in pages {
            let (anonymize, delete) = ("action = \"anonymize\"", "action = \"delete\"")
            #expect(sentence.contains(anonymize) && sentence.contains("belong to other users"))
            let parts = sentence.split(separator: anonymize)
            #expect(parts.count == 2 && !parts[0].contains(delete) && parts[1].contains(delete))
        }
        let visits = "column = \"u\", via = \"users.id\", action = \"delete\""
        #expect(found.contains { $0.name == "visits.u" && $0.reason.contains(visits) })
    }

    @Test("a circle with RESTRICT is a problem")
    func circleThatRestricts() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE a(u TEXT, id INTEGER PRIMARY KEY, b INTEGER REFERENCES b);
            CREATE TABLE b(u TEXT, id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE RESTRICT);
            """
        )
        let store = app.store(
            TableRule(table: "a", column: "u", action: .delete),
            TableRule(table: "b", column: "u", action: .delete)
        )
        #expect(await store.diagnose().count == 1)
    }

    @Test("kept rows are counted and left alone")
    func keep() async throws {
        let app = try AppDatabase(
            "CREATE TABLE invoices(u TEXT, n TEXT);"
                + "INSERT INTO invoices VALUES ('a', 'A'), ('a', 'B'), ('b', 'C')"
        )
        let store = app.store(
            TableRule(table: "invoices", column: "u", action: .keep, reason: "tax law")
        )
        #expect(await store.purge([order("a")]).map(\.text) == ["invoices keep: tax law 2"])
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.integer("SELECT count(*) FROM invoices") == 3)
    }

    @Test("missing tables and columns, views and empty rules are problems")
    func missing() async throws {
        let app = try AppDatabase("CREATE TABLE p(u TEXT); CREATE VIEW v AS SELECT u FROM p")
        let mask = TableAction.anonymize([ColumnMask(column: "gone", strategy: .null)])
        let store = app.store(
            TableRule(table: "nowhere", column: "u", action: .delete),
            TableRule(table: "p", column: "nobody", action: .delete),
            TableRule(table: "v", column: "u", action: .delete),
            TableRule(table: "p", column: "u", action: mask)
        )
        #expect(
            await store.diagnose() == [
                "table 'nowhere' does not exist", "table 'p' has no column 'nobody'",
                "'v' is a view, not a table", "table 'p' has no column 'gone'",
            ]
        )
        #expect(await store.purge([order("a")]) == [.failure(.misconfigured)])
        #expect(await app.store().diagnose() == ["no table is configured"])
    }

    @Test("a schema that changes under way is looked at again")
    func schemaChange() async throws {
        let app = try AppDatabase(
            "CREATE TABLE p(u TEXT); INSERT INTO p VALUES ('a'), ('b'), ('c')"
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1"])
        try app.execute("ALTER TABLE p ADD COLUMN extra TEXT; CREATE INDEX pu ON p(u)")
        #expect(await store.purge([order("b")]).map(\.text) == ["p delete, cutoff: none 1"])
        try app.execute("ALTER TABLE p RENAME COLUMN u TO owner")
        #expect(await store.purge([order("c")]) == [.failure(.misconfigured)])
        #expect(await store.verify([order("c")]) == [.failure(.misconfigured)])
        try app.execute("ALTER TABLE p RENAME COLUMN owner TO u")
        #expect(await store.purge([order("c")]).map(\.text) == ["p delete, cutoff: none 1"])
    }

    @Test("WITHOUT ROWID tables are deleted and anonymized in chunks too")
    func withoutRowID() async throws {
        let rows = """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2400)
            """
        let app = try AppDatabase(
            """
            CREATE TABLE d(u TEXT, n INTEGER, PRIMARY KEY (u, n)) WITHOUT ROWID;
            CREATE TABLE m(n INTEGER PRIMARY KEY, u TEXT, mail TEXT) WITHOUT ROWID;
            CREATE INDEX mu ON m(u);
            \(rows) INSERT INTO d SELECT iif(i % 2, 'a', 'b'), i FROM c;
            \(rows) INSERT INTO m SELECT i, iif(i % 2, 'a', 'b'), 'mail' || i FROM c;
            """
        )
        let store = app.store(
            TableRule(table: "d", column: "u", action: .delete),
            TableRule(
                table: "m",
                column: "u",
                action: .anonymize([ColumnMask(column: "mail", strategy: .hash)])
            ),
            clock: .hasty()
        )
        #expect(
            await store.purge([order("a")]).map(\.text) == [
                "d delete, cutoff: none 1200; m anonymize, cutoff: none 1200"
            ]
        )
        #expect(await store.verify([order("a"), order("b")]) == [.clean, .remaining(2400)])
        #expect(try app.integer("SELECT count(*) FROM d") == 1200)
        #expect(
            try app.integer("SELECT count(DISTINCT mail) FROM m WHERE mail GLOB 'erased:*'") == 1200
        )
    }

    @Test("an FTS index kept by the application's trusted triggers forgets the text")
    func fullTextSearch() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE posts(id INTEGER PRIMARY KEY, u TEXT, body TEXT);
            CREATE VIRTUAL TABLE search USING fts5(body, content = 'posts', content_rowid = 'id');
            CREATE TRIGGER ai AFTER INSERT ON posts BEGIN
              INSERT INTO search(rowid, body) VALUES (new.id, new.body); END;
            CREATE TRIGGER ad AFTER DELETE ON posts BEGIN
              INSERT INTO search(search, rowid, body) VALUES ('delete', old.id, old.body); END;
            INSERT INTO posts(u, body) VALUES ('a', 'secret diary'), ('b', 'public diary');
            """
        )
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        let store = app.store(rule, triggers: .trusted)
        #expect(await store.purge([order("a")]).map(\.text) == ["posts delete, cutoff: none 1"])
        #expect(try app.integer("SELECT count(*) FROM search WHERE search MATCH 'secret'") == 0)
        #expect(try app.integer("SELECT count(*) FROM search WHERE search MATCH 'diary'") == 1)
        try app.execute("INSERT INTO search(search) VALUES ('integrity-check')")
    }

    @Test("a trigger that SQLite finds unsafe is a problem with its remedy, never skipped")
    func unsafeTrigger() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT); CREATE VIRTUAL TABLE s USING fts4(body);
            CREATE TRIGGER t AFTER DELETE ON p BEGIN DELETE FROM s WHERE docid = old.rowid; END;
            INSERT INTO p VALUES ('a');
            """
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        let problems = await store.diagnose()
        let isRefused = await store.purge([order("a")]) == [.failure(.misconfigured)]
        #expect(isRefused == !problems.isEmpty)
        #expect(problems.allSatisfy { $0.contains("triggers = \"trusted\"") })
        #expect(try app.integer("SELECT count(*) FROM p") == (isRefused ? 1 : 0))
    }

    @Test(
        "a trigger that needs a function of the application is a problem, unless triggers are off"
    )
    func foreignFunction() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT); INSERT INTO p VALUES ('a');
            CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT only_in_the_app(old.u); END;
            """
        )
        let rule = TableRule(table: "p", column: "u", action: .delete)
        #expect(
            await app.store(rule).diagnose() == [
                "table 'p' cannot be worked on with the present schema: no such function:"
                    + " only_in_the_app"
            ]
        )
        #expect(await app.store(rule).purge([order("a")]) == [.failure(.misconfigured)])
        let quiet = app.store(rule, triggers: .off)
        #expect(await quiet.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1"])
    }

    @Test("a trigger that keeps the rows is found out by the verification")
    func ignoringTrigger() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT); INSERT INTO p VALUES ('a');
            CREATE TRIGGER t BEFORE DELETE ON p BEGIN SELECT RAISE(IGNORE); END;
            """
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 0"])
        #expect(await store.verify([order("a")]) == [.remaining(1)])
    }
}
