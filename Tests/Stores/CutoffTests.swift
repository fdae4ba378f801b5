import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

@Suite("The time cutoff of a SQLite store") struct CutoffTests {
    /// The time 2025-06-01T00:00:00.500Z.
    let cutoff = WallTime(unixMilliseconds: 1_748_736_000_500)

    @Test("rows newer than the cutoff stay, are counted, and are not missed by the verification")
    func seconds() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, made INTEGER, note TEXT);
            INSERT INTO p VALUES ('a', 1748735999, 'old'), ('a', 1748736000, 'same second'),
              ('a', 1748736001, 'new'), ('a', 1748736000.6, 'new'), ('a', 1748736000.4, 'old'),
              ('b', 1, 'other');
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixSeconds)
            )
        )
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.remaining(2)])
        #expect(await store.purge([order("a", cutoff: cutoff)]).map(\.text) == ["p delete 2+3"])
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.clean])
        #expect(
            try app.texts("SELECT note FROM p").sorted()
                == ["\"new\"", "\"new\"", "\"other\"", "\"same second\""]
        )
        #expect(await store.verify([order("a", cutoff: present)]) == [.remaining(3)])
    }

    @Test("milliseconds and ISO 8601 are read as exactly as they are written, in any offset")
    func otherUnits() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE m(u TEXT, made INTEGER);
            INSERT INTO m VALUES ('a', 1748736000500), ('a', 1748736000501);
            CREATE TABLE i(u TEXT, made TEXT);
            INSERT INTO i VALUES ('a', '2025-06-01T00:00:00.500Z'),
              ('a', '2025-06-01 00:00:00.501'),
              ('a', '2025-06-01T02:00:00.499+02:00'), ('a', '2025-05-31T23:00:00-02:00'),
              ('a', '2025-05-31'), ('a', '2025-06-01'), ('a', '2025-05-31T23:59:59Z'),
              ('a', '2025-06-01 00:00:00'), ('a', '2025-05-31 23:59'),
              ('a', '2025-06-01T02:00+02:00');
            """
        )
        let store = app.store(
            TableRule(
                table: "m",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixMilliseconds)
            ),
            TableRule(
                table: "i",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .iso8601)
            )
        )
        #expect(
            await store.purge([order("a", cutoff: cutoff)]).map(\.text)
                == ["m delete 1+1; i delete 5+5"]
        )
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.clean])
        #expect(
            try app.texts("SELECT made FROM i ORDER BY rowid")
                == [
                    "\"2025-06-01 00:00:00.501\"", "\"2025-05-31T23:00:00-02:00\"",
                    "\"2025-06-01\"", "\"2025-06-01 00:00:00\"", "\"2025-06-01T02:00+02:00\"",
                ]
        )
        #expect(
            await store.inspect(withOutages: true).advice.map(\.text).contains(
                "column 'made' of table 'i' holds days without a time of day: rows of the day of a"
                    + " request count as newer and stay"
            )
        )
    }

    @Test(
        "a row dated later than now keeps its own user's request open, and nobody else's",
        arguments: CreationColumn.Unit.allCases.filter { $0 != .timestamp }
    )
    func future(unit: CreationColumn.Unit) async throws {
        let app = try AppDatabase("CREATE TABLE p(u TEXT, made, note TEXT)")
        let creation = CreationColumn(column: "made", unit: unit)
        let mask = ColumnMask(column: "note", strategy: .null)
        let store = app.store(
            TableRule(table: "p", column: "u", action: .anonymize([mask]), creation: creation)
        )
        let (now, later) =
            switch unit {
            case .unixSeconds: ("1767225600", "1767225601")
            case .unixMilliseconds: ("1767225600000", "1767225600001")
            case .iso8601: ("'2026-01-01'", "'2026-01-01T00:00:00.002Z'")
            case .timestamp: ("", "")
            }
        try app.execute("INSERT INTO p VALUES ('a', \(now), 'x'), ('b', \(later), 'x')")
        try app.execute("INSERT INTO p VALUES ('c', \(later), NULL)")
        let orders = ["a", "b", "c"].map { order($0, cutoff: cutoff) }
        _ = await store.purge(orders)
        let future = VerifyAnswer.failure(.blocked(Obstacle(.future, at: "p", name: "made")))
        // Nothing of the third one's row wants to be masked.
        #expect(await store.verify(orders) == [.clean, future, .clean])
    }

    @Test("a date that was in the future at an earlier verification stays wrong once it has passed")
    func wrongDate() async throws {
        let app = try AppDatabase("CREATE TABLE p(u TEXT, made INTEGER)")
        let creation = CreationColumn(column: "made", unit: .unixMilliseconds)
        let store = app.store(
            TableRule(table: "p", column: "u", action: .delete, creation: creation)
        )
        let made = (present - .seconds(60)).unixMilliseconds
        try app.execute("INSERT INTO p VALUES ('a', \(made))")
        var late = order("a", cutoff: present - .seconds(3600))
        #expect(await store.verify([late]) == [.clean])
        late.datesUpTo = present - .seconds(61)
        let future = VerifyAnswer.failure(.blocked(Obstacle(.future, at: "p", name: "made")))
        #expect(await store.verify([late]) == [future])
        late.datesUpTo = present - .seconds(60)
        #expect(await store.verify([late]) == [.clean])
    }

    @Test("rows of the future or of unreadable time stay; only rows without a time count as old")
    func undated() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, made TEXT);
            INSERT INTO p VALUES ('a', '2025-01-01T00:00:00Z'), ('a', NULL), ('a', 'now'),
              ('a', 'soon'),
              ('a', '2460000.5'), ('a', 2460000.5), ('a', '9000-01-01T00:00:00Z'),
              ('a', '2025-12-01T00:00:00Z');
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .iso8601)
            )
        )
        #expect(
            await store.purge([order("a", cutoff: cutoff)]).map(\.text)
                == ["p delete 1+6; p delete, undated rows 1"]
        )
        let future = Obstacle(.future, at: "p", name: "made")
        #expect(
            await store.verify([order("a", cutoff: cutoff)]) == [.failure(.blocked(future))]
        )
        try app.execute("UPDATE p SET made = '2025-12-01' WHERE made = '9000-01-01T00:00:00Z'")
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.clean])
        try app.execute("UPDATE p SET made = '9000-01-01T00:00:00Z' WHERE made = '2025-12-01'")
        #expect(
            try app.texts("SELECT made FROM p ORDER BY rowid") == [
                "\"now\"", "\"soon\"", "\"2460000.5\"", "\"2460000.5\"",
                "\"9000-01-01T00:00:00Z\"", "\"2025-12-01T00:00:00Z\"",
            ]
        )
    }

    @Test(
        "a row of the far future stays and is reported, in every unit",
        arguments: [
            (CreationColumn.Unit.unixSeconds, "9999999999", "1700000000"),
            (.unixSeconds, "9e300", "1700000000"),
            (.unixMilliseconds, "9999999999999", "1700000000000"),
            (.iso8601, "'9999-12-31T23:59:59Z'", "'2001-01-01'"),
            (.iso8601, "'2999-01-01 00:00:00'", "'2001-01-01'"),
        ]
    )
    func future(_ unit: CreationColumn.Unit, _ later: String, _ old: String) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, made ANY, note TEXT);
            INSERT INTO p VALUES ('a', \(later), 'later'), ('a', \(old), 'old');
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: unit)
            )
        )
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.remaining(1)])
        #expect(await store.purge([order("a", cutoff: cutoff)]).map(\.text) == ["p delete 1+1"])
        let future = Obstacle(.future, at: "p", name: "made")
        #expect(
            await store.verify([order("a", cutoff: cutoff)]) == [.failure(.blocked(future))]
        )
        #expect(try app.texts("SELECT note FROM p") == ["\"later\""])
    }

    @Test("a unit that does not fit the stored values is a problem")
    func wrongUnit() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(u TEXT, s INTEGER, ms INTEGER, iso TEXT);
            INSERT INTO p VALUES ('a', 1748736000, 1748736000500, '2025-06-01T00:00:00Z');
            """
        )
        func problems(_ column: String, _ unit: CreationColumn.Unit) async -> Int {
            let creation = CreationColumn(column: column, unit: unit)
            let rule = TableRule(table: "p", column: "u", action: .delete, creation: creation)
            return await app.store(rule).diagnose().count
        }
        #expect(await problems("s", .unixSeconds) == 0)
        #expect(await problems("ms", .unixMilliseconds) == 0)
        #expect(await problems("iso", .iso8601) == 0)
        #expect(await problems("s", .unixMilliseconds) == 1)
        #expect(await problems("ms", .unixSeconds) == 1)
        #expect(await problems("s", .iso8601) == 1)
        #expect(await problems("iso", .unixSeconds) == 1)
        #expect(await problems("none", .unixSeconds) == 1)
    }

    @Test("an old row stays while a newer row refers to it, also two tables away")
    func newerChild() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY, name TEXT);
            CREATE TABLE threads(id INTEGER PRIMARY KEY, owner TEXT REFERENCES users(id));
            CREATE TABLE posts(id INTEGER PRIMARY KEY, u TEXT, made INTEGER,
              thread INTEGER REFERENCES threads(id) ON DELETE CASCADE);
            INSERT INTO users VALUES ('a', 'A'), ('b', 'B');
            INSERT INTO threads VALUES (1, 'a'), (2, 'a'), (3, 'b');
            INSERT INTO posts VALUES (1, 'a', 1700000000, 1), (2, 'a', 1760000000, 1),
              (3, 'a', 1700000000, 2), (4, 'b', 1700000000, 3);
            """
        )
        let store = app.store(
            TableRule(table: "users", column: "id", action: .delete),
            TableRule(table: "threads", column: "owner", action: .delete),
            TableRule(
                table: "posts",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixSeconds)
            )
        )
        #expect(
            await store.purge([order("a", cutoff: cutoff)]).map(\.text) == [
                "posts delete 2+1; threads delete, cutoff: none 1+1; users delete, cutoff: none 0+1"
            ]
        )
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.clean])
        #expect(
            await store.purge([order("a", cutoff: present)]).map(\.text) == [
                "posts delete 1; threads delete, cutoff: none 1; users delete, cutoff: none 1"
            ]
        )
        #expect(try app.texts("SELECT id FROM users") == ["\"b\""])
        #expect(try app.integer("SELECT count(*) FROM posts") == 1)
    }

    @Test(
        "a newer row keeps what it refers to, by each of its keys and by every way",
        arguments: [("sender", "'a'"), ("recipient", "'a'"), ("box", "1"), ("registry", "1")]
    )
    func severalKeys(column: String, value: String) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE boxes(id INTEGER PRIMARY KEY,
              owner TEXT REFERENCES users ON DELETE CASCADE);
            CREATE TABLE shelves(id INTEGER PRIMARY KEY,
              owner TEXT REFERENCES users ON DELETE CASCADE);
            CREATE TABLE messages(sender TEXT REFERENCES users ON DELETE CASCADE,
              recipient TEXT REFERENCES users ON DELETE CASCADE,
              box INTEGER REFERENCES boxes ON DELETE CASCADE,
              registry INTEGER REFERENCES shelves ON DELETE CASCADE, made INTEGER);
            INSERT INTO users VALUES ('a'), ('b'); INSERT INTO boxes VALUES (1, 'a');
            INSERT INTO shelves VALUES (1, 'a');
            INSERT INTO messages(sender, made) VALUES ('b', 1700000000);
            INSERT INTO messages(\(column), made) VALUES (\(value), 1760000000);
            """
        )
        let store = app.store(
            TableRule(table: "users", column: "id", action: .delete),
            TableRule(
                table: "messages",
                column: "sender",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixSeconds)
            )
        )
        let text = await store.purge([order("a", cutoff: cutoff)])[0].text
        #expect(text.hasSuffix("users delete, cutoff: none 0+1"))
        #expect(try app.integer("SELECT count(*) FROM messages") == 2)
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.clean])
        _ = await store.purge([order("a", cutoff: present)])
        #expect(try app.integer("SELECT count(*) FROM messages") == 1)
    }

    @Test("newer rows of a user with many rows survive every chunk")
    func cutoffInChunks() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, made INTEGER); CREATE INDEX pu ON p(u);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4000)
            INSERT INTO p(u, made) SELECT 'a', iif(i % 4 = 0, 1760000000, 1700000000) FROM c;
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixSeconds)
            ),
            clock: .hasty()
        )
        #expect(
            await store.purge([order("a", cutoff: cutoff)]).map(\.text) == ["p delete 3000+1000"]
        )
        #expect(await store.verify([order("a", cutoff: cutoff)]) == [.clean])
        #expect(try app.integer("SELECT count(*) FROM p WHERE made = 1760000000") == 1000)
    }
}
