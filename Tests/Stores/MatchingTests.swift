import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

@Suite("Which rows a SQLite store takes for a user's") struct MatchingTests {
    @Test("only rows with the id's bytes go; those that the collation takes for equal are named")
    func collation() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE posts(author TEXT COLLATE NOCASE, body TEXT);
            CREATE INDEX posts_author ON posts(author);
            INSERT INTO posts VALUES ('Ada', 'mine'), ('ada', 'hers'), ('ADA', 'theirs'),
              ('Ada ', 'x');
            """
        )
        let store = app.store(TableRule(table: "posts", column: "author", action: .delete))
        #expect(await store.purge([order("Ada")]).map(\.text) == ["posts delete, cutoff: none 1"])
        let author = Obstacle(.spelling, at: "posts", name: "author")
        #expect(await store.verify([order("Ada")]) == [.failure(.blocked(author))])
        #expect(try app.texts("SELECT author FROM posts ORDER BY rowid").count == 3)
        #expect(try app.integer("SELECT count(*) FROM posts WHERE body = 'mine'") == 0)
        #expect(await store.verify([order("ADA")]) == [.remaining(1)])
    }

    @Test("an integer id must be canonical; of another spelling nobody says that it has no rows")
    func canonicalInteger() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE posts(author INTEGER, body TEXT); CREATE INDEX pa ON posts(author);
            INSERT INTO posts VALUES (42, 'a'), (42, 'b'), (7, 'c'), (-7, 'd');
            """
        )
        let store = app.store(
            TableRule(table: "posts", column: "author", idType: .integer, action: .delete)
        )
        let author = EffectFailure.blocked(Obstacle(.spelling, at: "posts", name: "author"))
        for id in ["042", "+42", "-0", " 42", "42.0", "4e1", "99999999999999999999"] {
            #expect(await store.purge([order(id)]) == [.failure(author)], "\(id)")
            #expect(await store.plan(order(id)) == .failure(author), "\(id)")
        }
        for id in ["forty-two", "42nd", "infinity"] {
            let text = await store.purge([order(id)]).map(\.text)
            #expect(text == ["posts delete, cutoff: none, no such id 0"], "\(id)")
        }
        #expect(try app.integer("SELECT count(*) FROM posts") == 4)
        #expect(await store.purge([order("42")]).map(\.text) == ["posts delete, cutoff: none 2"])
        #expect(await store.purge([order("-7")]).map(\.text) == ["posts delete, cutoff: none 1"])
        #expect(
            await store.verify([order("42"), order("042"), order("7")])
                == [.clean, .failure(author), .remaining(1)]
        )
    }

    @Test(
        "an id type that never matches the column is a problem, and nothing is purged",
        arguments: [
            ("INTEGER", IDType.text), ("NUMERIC", .text), ("REAL", .text), ("TEXT", .integer),
            ("VARCHAR(36)", .integer), ("REAL", .integer), ("TEXT", .blob), ("INTEGER", .blob),
        ]
    )
    func affinity(type: String, idType: IDType) async throws {
        let app = try AppDatabase("CREATE TABLE posts(author \(type))")
        try app.execute("INSERT INTO posts VALUES (42)")
        let store = app.store(
            TableRule(table: "posts", column: "author", idType: idType, action: .delete)
        )
        #expect(await store.diagnose().count == 1)
        #expect(await store.purge([order("42")]) == [.failure(.misconfigured)])
        #expect(await store.verify([order("42")]) == [.failure(.misconfigured)])
        #expect(try app.integer("SELECT count(*) FROM posts") == 1)
    }

    @Test("an untyped column is judged by what it stores")
    func untyped() async throws {
        let app = try AppDatabase("CREATE TABLE posts(author)")
        try app.execute(repeated("INSERT INTO posts VALUES (42)"))
        let text = TableRule(table: "posts", column: "author", action: .delete)
        let integer = TableRule(table: "posts", column: "author", idType: .integer, action: .delete)
        #expect(
            await app.store(text).diagnose() == [
                "column 'author' of table 'posts' holds a number, which id_type"
                    + " \"text\" never matches"
            ]
        )
        #expect(await app.store(text).purge([order("42")]) == [.failure(.misconfigured)])
        #expect(await app.store(integer).diagnose() == [])
        #expect(
            await app.store(integer).purge([order("42")]).map(\.text)
                == ["posts delete, cutoff: none 10"]
        )
        try app.execute(repeated("INSERT INTO posts VALUES ('x'), (x'00')"))
        #expect(await app.store(integer).diagnose().count == 2)
    }

    @Test("a check that finds nothing but values of another type stops a store that has worked")
    func drift() async throws {
        let app = try AppDatabase("CREATE TABLE p(u); INSERT INTO p VALUES ('a')")
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1"])
        try app.execute(repeated("INSERT INTO p VALUES (7)"))
        #expect(await store.diagnose().count == 1)
        #expect(await store.purge([order("b")]) == [.failure(.misconfigured)])
        try app.execute("DELETE FROM p WHERE u = 7; INSERT INTO p VALUES ('b')")
        #expect(await store.purge([order("b")]).map(\.text) == ["p delete, cutoff: none 1"])
    }

    @Test(
        "values of another type that are there before the start stop nobody but whom they may mean",
        arguments: [
            (IDType.integer, "INTEGER", "'abc', x'3432'", "1", ["abc", "42"]),
            (.integer, "", "'abc', '9.0'", "1", ["abc", "9"]),
            (.text, "TEXT", "x'3432'", "'u'", ["42"]),
            (.text, "", "42, 7.5", "'u'", ["42", "7.5"]),
            (.blob, "BLOB", "'abc', '0xff', 9", "x'01'", ["abc", "ff", "9"]),
        ]
    )
    func odd(idType: IDType, type: String, odd: String, good: String, held: [String]) async throws {
        let app = try AppDatabase("CREATE TABLE p(u \(type))")
        try app.execute("INSERT INTO p VALUES \(values(odd))")
        for isAlone in [true, false] {
            if !isAlone { try app.execute("INSERT INTO p VALUES (\(good))") }
            let rule = TableRule(table: "p", column: "u", idType: idType, action: .delete)
            let store = app.store(rule)
            let found = await store.inspect(withOutages: true)
            #expect(found.problems == [])
            #expect(found.advice.contains { $0.text.contains("never matches") }, "\(found.advice)")
            for user in held {
                _ = await store.purge([order(user)])
                let named = EffectFailure.blocked(Obstacle(.spelling, at: "p", name: "u"))
                #expect(await store.verify([order(user)]) == [.failure(named)], "\(user)")
            }
            let healthy = idType == .text ? "u" : idType == .integer ? "1" : "01"
            _ = await store.purge([order(healthy), order("77")])
            #expect(await store.verify([order(healthy), order("77")]) == [.clean, .clean])
        }
    }

    /// As many rows as make a column out of it.
    private func repeated(_ insert: String) -> String {
        Array(repeating: insert, count: SQLLimits.strangeRows).joined(separator: "; ")
    }

    private func values(_ list: String) -> String {
        list.split(separator: ", ").map { "(\($0))" }.joined(separator: ", ")
    }

    @Test("an id of 18 bytes has as many digits as a UUID has characters, and is one all the same")
    func eighteenBytes() async throws {
        let digits = "0190a5f0c0de0190a5f0c0de0190a5f0c0de"
        let app = try AppDatabase(
            """
            CREATE TABLE posts(author BLOB); CREATE INDEX pa ON posts(author);
            INSERT INTO posts VALUES (x'\(digits)'), (x'\(digits.dropLast(2))df');
            """
        )
        let rule = TableRule(table: "posts", column: "author", idType: .blob, action: .delete)
        let store = app.store(rule)
        #expect(await store.purge([order(digits)]).map(\.text) == ["posts delete, cutoff: none 1"])
        #expect(await store.verify([order(digits)]) == [.clean])
        #expect(try app.integer("SELECT count(*) FROM posts") == 1)
    }

    @Test("blob ids are hexadecimal or a UUID, of lower or upper case as Swift writes it")
    func blob() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE posts(author BLOB); CREATE INDEX pa ON posts(author);
            INSERT INTO posts VALUES (x'0190a5f0c0de7000800000000000abcd'), (x'abcd'), (x'abce');
            """
        )
        let rule = TableRule(table: "posts", column: "author", idType: .blob, action: .delete)
        let store = app.store(rule)
        let answers = await store.purge([order("aBCD"), order("ABCD"), order("xyz")])
        let author = Obstacle(.spelling, at: "posts", name: "author")
        #expect(answers[0] == .failure(.blocked(author)))
        #expect(
            answers[1...].map(\.text)
                == ["posts delete, cutoff: none 1", "posts delete, cutoff: none, no such id 0"]
        )
        try app.execute("INSERT INTO posts VALUES (x'abcd')")
        #expect(await store.purge([order("abcd")]).map(\.text) == ["posts delete, cutoff: none 1"])
        let uuid = "0190a5f0-c0de-7000-8000-00000000abcd"
        guard case .found(let users) = await store.users(where: { _ in true }) else {
            Issue.record("no users")
            return
        }
        #expect(users.contains(order(uuid).user) && users.contains(order(uuid.uppercased()).user))
        #expect(
            await store.purge([order(uuid.uppercased())]).map(\.text)
                == ["posts delete, cutoff: none 1"]
        )
        #expect(await store.verify([order(uuid), order("abce")]) == [.clean, .remaining(1)])
    }

    @Test("names with quotes are names, not SQL")
    func quotedNames() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE "we""ird -- table"("author""; DROP TABLE x; --" TEXT, "select" TEXT);
            CREATE TABLE x(a); INSERT INTO "we""ird -- table" VALUES ('u', 'v'), ('w', 'v');
            """
        )
        let rule = TableRule(
            table: "we\"ird -- table",
            column: "author\"; DROP TABLE x; --",
            action: .anonymize([ColumnMask(column: "select", strategy: .hash)])
        )
        let store = app.store(rule)
        #expect(await store.diagnose() == [])
        #expect(await store.purge([order("u' OR '1'='1"), order("u")]).count == 2)
        #expect(
            try app.integer("SELECT count(*) FROM \"we\"\"ird -- table\" WHERE \"select\" = 'v'")
                == 1
        )
        #expect(try app.integer("SELECT count(*) FROM x") == 0)
    }

    @Test("UTF-16 databases match as well")
    func utf16() async throws {
        let app = try AppDatabase(
            "PRAGMA encoding = 'UTF-16le'; CREATE TABLE p(u TEXT);"
                + "INSERT INTO p VALUES ('jürgen'), ('x')"
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        #expect(await store.verify([order("jürgen")]) == [.remaining(1)])
        #expect(await store.purge([order("jürgen")]).map(\.text) == ["p delete, cutoff: none 1"])
        #expect(await store.verify([order("jürgen")]) == [.clean])
        #expect(try app.integer("SELECT count(*) FROM p") == 1)
    }

    @Test("a table with a column called rowid is chunked by the real one")
    func shadowedRowID() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, rowid TEXT, note TEXT);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1200)
            INSERT INTO p SELECT iif(i % 6 = 0, 'b', 'a'), 'same', 'n' || i FROM c;
            """
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 1000"])
        #expect(try app.integer("SELECT count(*) FROM p") == 200)
    }

    @Test("a column of mixed types holds an id as text and as a number")
    func mixed() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(n INTEGER PRIMARY KEY, u);
            INSERT INTO p VALUES (1, 42), (2, '42'), (3, 42.0), (4, '042'), (5, 43), (6, 'x'),
                (7, NULL), (8, 42.5);
            """
        )
        let store = app.store(
            TableRule(table: "p", column: "u", idType: .mixed, action: .delete)
        )
        #expect(await store.diagnose() == [])
        #expect(await store.verify([order("42")]) == [.remaining(3)])
        #expect(await store.purge([order("42")]).map(\.text) == ["p delete, cutoff: none 3"])
        #expect(await store.verify([order("42")]) == [.clean])
        #expect(await store.purge([order("x")]).map(\.text) == ["p delete, cutoff: none 1"])
        #expect(try app.texts("SELECT n FROM p") == ["4", "5", "7", "8"])
        // 043 reads as the number 43.
        let blocked = VerifyAnswer.failure(.blocked(Obstacle(.spelling, at: "p", name: "u")))
        #expect(await store.verify([order("043")]) == [blocked])
    }
}
