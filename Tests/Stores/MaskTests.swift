import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

@Suite("Anonymization") struct MaskTests {
    let schema = """
        CREATE TABLE invoices(id INTEGER PRIMARY KEY, u TEXT, name TEXT, mail TEXT, city TEXT,
          zip TEXT, ip TEXT, age INTEGER, total INTEGER);
        CREATE INDEX iu ON invoices(u);
        INSERT INTO invoices(u, name, mail, city, zip, ip, age, total) VALUES
          ('a', 'Ada', 'ada@example.org', 'London', 'N1 7AA', '10.0.0.1', 36, 5),
          ('a', 'Ada', 'ada@example.org', NULL, NULL, NULL, NULL, 6),
          ('a', 'Ada', NULL, 'Paris', '75001', '10.0.0.2', 37, 7),
          ('b', 'Bob', 'bob@example.org', 'Rome', '00100', '10.0.0.3', 40, 8);
        """
    let rule = TableRule(
        table: "invoices",
        column: "u",
        action: .anonymize([
            ColumnMask(column: "name", strategy: .null),
            ColumnMask(column: "mail", strategy: .hash),
            ColumnMask(column: "city", strategy: .text("nowhere")),
            ColumnMask(column: "zip", strategy: .truncate(length: 2)),
            ColumnMask(column: "ip", strategy: .random),
            ColumnMask(column: "age", strategy: .integer(0)),
        ]),
        reason: "tax law, 10 years"
    )

    @Test("every strategy masks its column, and no other row or column changes")
    func strategies() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(rule)
        let other = try app.texts("SELECT * FROM invoices WHERE u = 'b'")
        #expect(await store.diagnose() == [])
        #expect(await store.verify([order("a")]) == [.remaining(3)])
        #expect(
            await store.purge([order("a")]).map(\.text)
                == ["invoices anonymize: tax law, 10 years, cutoff: none 3"]
        )
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.texts("SELECT * FROM invoices WHERE u = 'b'") == other)
        let rows = try app.texts("SELECT name, city, zip, age, total FROM invoices WHERE u = 'a'")
        #expect(
            rows == [
                "NULL|\"nowhere\"|\"N1*\"|0|5", "NULL|\"nowhere\"|NULL|0|6",
                "NULL|\"nowhere\"|\"75*\"|0|7",
            ]
        )
        let mails = try app.texts("SELECT mail FROM invoices WHERE u = 'a'")
        #expect(mails[0] == mails[1] && mails[0].hasPrefix("\"erased:") && mails[2] == "NULL")
        #expect(try app.texts("SELECT ip FROM invoices WHERE id = 1").first?.count == 41)
    }

    @Test("a second pass finds nothing to do and changes nothing")
    func idempotent() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(rule)
        _ = await store.purge([order("a")])
        let once = try app.texts("SELECT * FROM invoices")
        #expect(
            await store.purge([order("a")]).map(\.text)
                == ["invoices anonymize: tax law, 10 years, cutoff: none 0"]
        )
        #expect(try app.texts("SELECT * FROM invoices") == once)
    }

    @Test("a value written back afterwards is found by the verification")
    func comesBack() async throws {
        let app = try AppDatabase(schema)
        let store = app.store(rule)
        _ = await store.purge([order("a")])
        try app.execute("UPDATE invoices SET mail = 'erased:me@example.org' WHERE id = 1")
        #expect(await store.verify([order("a")]) == [.remaining(1)])
    }

    @Test("a text that is too short to be cut is not kept, and a cut one is not cut again")
    func wholeTexts() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, zip TEXT COLLATE NOCASE);
            INSERT INTO p(u, zip) VALUES ('a', ''), ('a', 'Y'), ('a', 'YO'), ('a', 'YO1'),
              ('a', 'YO1 8'), ('a', 'Zo\u{308}'), ('a', 'Y*'), ('a', '**');
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .anonymize([ColumnMask(column: "zip", strategy: .truncate(length: 2))])
            )
        )
        #expect(await store.verify([order("a")]) == [.remaining(7)])
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 7"])
        let masked = ["", "*", "*", "YO*", "YO*", "Zo*", "*", "*"]
        #expect(try app.texts("SELECT zip FROM p ORDER BY id") == masked.map { "\"\($0)\"" })
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 0"])
    }

    @Test(
        "a value that only looks like a mask is masked, and a mask is not",
        arguments: [MaskStrategy.hash, .random]
    )
    func lookalikes(strategy: MaskStrategy) async throws {
        let forged = "erased:0123456789abcdef0123456789abcdef"
        let app = try AppDatabase(
            "CREATE TABLE p(u TEXT, mail TEXT); INSERT INTO p VALUES ('a', '\(forged)')"
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .anonymize([ColumnMask(column: "mail", strategy: strategy)])
            )
        )
        #expect(await store.verify([order("a")]) == [.remaining(1)])
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 1"])
        let mask = try app.texts("SELECT mail FROM p")
        #expect(mask != ["\"\(forged)\""] && mask[0].hasPrefix("\"erased:"))
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 0"])
        #expect(try app.texts("SELECT mail FROM p") == mask)
    }

    @Test("a text is written as configured, whatever the encoding of the file", arguments: [8, 16])
    func encodings(bits: Int) async throws {
        let app = try AppDatabase(
            """
            PRAGMA encoding = 'UTF-\(bits)';
            CREATE TABLE p(u TEXT, city TEXT, raw BLOB);
            INSERT INTO p VALUES ('a', 'York', 42);
            """
        )
        let rule = TableRule(
            table: "p",
            column: "u",
            action: .anonymize([
                ColumnMask(column: "city", strategy: .text("gone ü'!")),
                ColumnMask(column: "raw", strategy: .text("42")),
            ])
        )
        let store = app.store(rule)
        #expect(await store.verify([order("a")]) == [.remaining(1)])
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 1"])
        #expect(try app.integer("SELECT city = 'gone ü''!' FROM p") == 1)
        #expect(try app.texts("SELECT typeof(raw) || raw FROM p") == ["\"text42\""])
        #expect(await store.verify([order("a")]) == [.clean])
    }

    @Test("masks that the column cannot take are problems")
    func unfit() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, a TEXT NOT NULL, b INTEGER,
              c TEXT UNIQUE,
              d TEXT AS (a) STORED);
            """
        )
        let cases: [(String, MaskStrategy)] = [
            ("a", .null), ("b", .hash), ("b", .random), ("c", .text("x")), ("d", .hash),
            ("id", .integer(1)), ("a", .truncate(length: -1)), ("c", .hash),
            ("b", .truncate(length: 1)),
        ]
        for (column, strategy) in cases {
            let mask = ColumnMask(column: column, strategy: strategy)
            let rule = TableRule(table: "p", column: "u", action: .anonymize([mask]))
            #expect(await !app.store(rule).diagnose().isEmpty, "\(column) \(strategy)")
        }
    }

    @Test("text behind a zero byte is no masked text")
    func zeroBytes() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, a TEXT, b TEXT, c);
            INSERT INTO p VALUES ('a', char(0) || 'victim@example.org',
              'erased:0123456789abcdef0123456789abcdef' || char(0) || 'victim@example.org',
              x'0076');
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .anonymize([
                    ColumnMask(column: "a", strategy: .truncate(length: 3)),
                    ColumnMask(column: "b", strategy: .random),
                    ColumnMask(column: "c", strategy: .truncate(length: 3)),
                ])
            )
        )
        #expect(await store.verify([order("a")]) == [.remaining(1)])
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 1"])
        #expect(await store.verify([order("a")]) == [.clean])
        let left = "SELECT count(*) FROM p WHERE hex(a) LIKE '%766963%' OR hex(b) LIKE '%766963%'"
        #expect(try app.integer(left) == 0)
        #expect(try app.texts("SELECT c FROM p") == ["\"*\""])
    }

    @Test("a user with many rows is anonymized in chunks, and a reverting trigger ends")
    func chunks() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, mail TEXT); CREATE INDEX pu ON p(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
            INSERT INTO p(u, mail) SELECT iif(i % 3, 'a', 'b'), 'mail' || i FROM c;
            """
        )
        let mask = TableAction.anonymize([ColumnMask(column: "mail", strategy: .hash)])
        let store = app.store(
            TableRule(table: "p", column: "u", action: mask),
            clock: .hasty()
        )
        #expect(await store.purge([order("a")]).map(\.text) == ["p anonymize, cutoff: none 2000"])
        #expect(await store.verify([order("a")]) == [.clean])
        try app.execute(
            """
            CREATE TRIGGER t AFTER UPDATE ON p WHEN old.u = 'b' AND new.mail <> old.mail BEGIN
              UPDATE p SET mail = old.mail WHERE id = new.id; END
            """
        )
        _ = await store.purge([order("b")])
        #expect(await store.verify([order("b")]) == [.remaining(1000)])
    }
}
