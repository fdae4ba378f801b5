import CSQLiteGuard
import Engine
import GRDB
import GRDBSQLite
import Lifecycle
import Testing

@testable import Stores

@Suite("A SQLite store and the functions that a schema calls") struct TrustedSchemaTests {
    let rule = TableRule(table: "p", column: "u", action: .delete)

    /// As Django 4.2 makes it for a JSONField, an index on a KeyTransform and a GeneratedField.
    static let django = """
        CREATE TABLE p(id INTEGER PRIMARY KEY AUTOINCREMENT, u TEXT NOT NULL,
            data TEXT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)),
            city TEXT GENERATED ALWAYS AS (JSON_EXTRACT("data", '$.city')) STORED,
            tags TEXT GENERATED ALWAYS AS ("data" -> '$.tags') VIRTUAL,
            CHECK ("data" ->> '$.kind' IS NOT 'x'));
        CREATE INDEX pu ON p(u);
        CREATE INDEX p_name ON p(JSON_TYPE("data", '$.name'), JSON_EXTRACT("data", '$.name'));
        CREATE INDEX p_part ON p(id) WHERE JSON_ARRAY_LENGTH("data", '$.tags') > 1;
        CREATE TABLE log(gone TEXT);
        CREATE TRIGGER t AFTER DELETE ON p BEGIN
            INSERT INTO log VALUES (json_set(old.data, '$.tags',
                json_array(json_extract(old.data, '$.tags[0]'), json(old.data), 'x')));
        END;
        CREATE VIEW v AS SELECT json_quote(u) AS q FROM p;
        INSERT INTO p(u, data) VALUES ('a', '{"city": "Bonn", "tags": [1, 2.50]}'),
            ('b', '{"city":"Rom","name":{"x":[true,null]},"tags":[]}'), ('a', NULL);
        """

    @Test("JSON in a CHECK, a generated column, an index, a trigger and a view is no obstacle")
    func json() async throws {
        let app = try AppDatabase(Self.django)
        let others = "SELECT *, tags FROM p WHERE u = 'b'"
        let before = try app.texts(others)
        let store = app.store(rule)
        #expect(await store.diagnose() == [])
        #expect(await store.verify([order("a")]) == [.remaining(2)])
        #expect(await store.purge([order("a")]).map(\.text) == ["p delete, cutoff: none 2"])
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.texts(others) == before)
        // The application's own functions agree with what was written.
        #expect(try app.texts("PRAGMA integrity_check") == ["\"ok\""])
        let logged = #"{"city":"Bonn","tags":[1,{"city":"Bonn","tags":[1,2.50]},"x"]}"#
        let texts = try await app.queue.read {
            try String.fetchAll($0, sql: "SELECT gone FROM log WHERE gone IS NOT NULL")
        }
        #expect(texts == [logged])
    }

    @Test("masks of such a table are checked by its constraints")
    func masks() async throws {
        let app = try AppDatabase(Self.django)
        let mask = { (text: String) in
            TableRule(
                table: "p",
                column: "u",
                action: .anonymize([ColumnMask(column: "data", strategy: .text(text))]),
                reason: "law"
            )
        }
        let good = app.store(mask(#"{"city":"?"}"#))
        #expect(await good.purge([order("a")]).map(\.text) == ["p anonymize: law, cutoff: none 2"])
        #expect(try app.texts("SELECT city FROM p WHERE u = 'a'") == ["\"?\"", "\"?\""])
        let bad = app.store(mask(#"{"kind":"x"}"#))
        let answers = await bad.purge([order("b")])
        #expect(answers.map(\.text) == ["blocked_by_constraint"], "\(answers)")
        #expect(try app.texts("PRAGMA integrity_check") == ["\"ok\""])
    }

    /// What the schema calls, and what the check says.
    static let hostile = [
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT load_extension('/tmp/x.so'); END",
            "unsafe use of load_extension()"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT fts3_tokenizer('a', x'00'); END",
            "unsafe use of fts3_tokenizer()"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT writefile('/tmp/x', old.u); END",
            "no such function: writefile"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT rtreecheck('main', 'p'); END",
            "unsafe use of rtreecheck()"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN INSERT INTO l SELECT * FROM v; END;"
                + "CREATE VIEW v AS SELECT load_extension(u) FROM p",
            "unsafe use of load_extension()"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN"
                + " INSERT INTO l VALUES (expunged_hash(old.u, 'x')); END",
            "unsafe use of expunged_hash()"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN"
                + " INSERT INTO l SELECT name FROM dbstat; END",
            "unsafe use of virtual table"
        ),
    ]

    @Test(
        "no function that reaches beyond its arguments runs, trusted or not",
        arguments: hostile,
        [TriggerPolicy.checked, .trusted]
    )
    func triggers(schema: (sql: String, words: String), policy: TriggerPolicy) async throws {
        let app = try AppDatabase(
            "CREATE TABLE p(u TEXT); CREATE TABLE l(x); INSERT INTO p VALUES ('a');\(schema.sql)"
        )
        let store = app.store(rule, triggers: policy)
        // R*Tree's own function reads this database only; the operator trusts the schema.
        if policy == .trusted, schema.sql.contains("rtreecheck") { return }
        let problems = await store.diagnose()
        #expect(problems.contains { $0.contains(schema.words) }, "\(problems)")
        #expect(await store.purge([order("a")]) == [.failure(.misconfigured)])
        #expect(try app.integer("SELECT count(*) FROM p") == 1)
        #expect(try app.integer("SELECT count(*) FROM l") == 0)
        #expect(await app.store(rule, triggers: .off).diagnose() == [])
    }

    @Test(
        "a schema that cannot be read for a function is no damaged file",
        arguments: [
            ("CREATE TABLE q(x, y AS (shout(x)))", "cannot be worked on", 0),
            ("CREATE TABLE q(x); CREATE INDEX i ON q(rtreedepth(x))", "the schema of 'i'", 1),
        ]
    )
    func unreadable(schema: String, words: String, problemCount: Int) async throws {
        let app = try AppDatabase("CREATE TABLE p(u TEXT); INSERT INTO p VALUES ('a')")
        // The application's own functions; SQLite has one of the second name that means harm.
        try await app.queue.writeWithoutTransaction { db in
            for name in ["shout", "rtreedepth"] {
                db.add(function: DatabaseFunction(name, argumentCount: 1, pure: true) { _ in 1 })
            }
            try db.execute(sql: schema)
        }
        let problems = await app.store(rule).diagnose()
        #expect(problems.filter { $0.contains(words) }.count == problemCount, "\(problems)")
        #expect(!problems.contains { $0.contains("database is damaged") }, "\(problems)")
    }

    @Test("every scalar JSON function answers as SQLite's own")
    func same() throws {
        let calls = [
            "json(' [1, 2.50] ')", "json_array(1, '2', NULL, json('[3]'), 1.50)",
            "json_array_length('[1,2]')", "json_array_length('{\"a\":[1]}', '$.a')",
            "json_extract('{\"a\":[1,\"x\"]}', '$.a')", "json_extract('[1,2]', '$[0]', '$[1]')",
            "json_extract('[\"é\"]', '$[0]')", "'[1,[2]]' -> 1", "'[1,\"x\"]' ->> '$[1]'",
            "json_insert('[1]', '$[#]', json('{}'))", "json_object('a', 1, 'b', json('[]'))",
            "json_patch('{\"a\":1}', '{\"a\":null}')", "json_quote('x')", "json_quote(json('[1]'))",
            "json_remove('[1,2,3]', '$[0]', '$[1]')", "json_replace('[1]', '$[0]', '[2]')",
            "json_set('{}', '$.a', json_array(1))", "json_type('[1]')",
            "json_type('{\"a\":1}', '$.a')", "json_valid('{')", "json_valid(NULL)",
            "typeof(json_extract('[1.0]', '$[0]'))", "json_extract(NULL, '$')",
        ]
        let plain = try DatabaseQueue()
        let guarded = try DatabaseQueue()
        let code = guarded.inDatabase { unsafe csqliteguard_trust_json($0.sqliteConnection) }
        #expect(code == SQLITE_OK)
        for call in calls {
            let sql = "SELECT \(call), typeof(\(call)), json_array(\(call))"
            let expected = try plain.read { try Row.fetchOne($0, sql: sql) }
            #expect(try guarded.read { try Row.fetchOne($0, sql: sql) } == expected, "\(call)")
        }
        let wrongs = [
            "json('{')", "json_extract('[]', 'a')", "json_object('a')", "json_array(x'')",
        ]
        for wrong in wrongs {
            let errors = [plain, guarded].map { queue in
                #expect(throws: DatabaseError.self) {
                    try queue.read { _ = try Row.fetchOne($0, sql: "SELECT \(wrong)") }
                }?.message
            }
            #expect(errors[0] != nil && errors[0] == errors[1], "\(wrong)")
        }
    }
}
