import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

/// Rules that go by the user's row, which the application has deleted before the purge.
struct GoneStart: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    let rules: [TableRule]
    /// What the application does before the request.
    let deletes: String
    /// The rules that the receipt has to name.
    let unreached: [String]
    var kinds = ShapeKind.allCases
    var user = "a"

    var testDescription: String { name }

    private static let letters = """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT UNIQUE, made INTEGER);
        CREATE TABLE letters(n INTEGER PRIMARY KEY, email TEXT, kind TEXT);
        INSERT INTO users VALUES ('a', 'a@x', 1600000000), ('b', 'b@x', 1600000000);
        INSERT INTO letters VALUES (1, 'a@x', 'x'), (2, 'b@x', 'x'), (3, NULL, 'x');
        """
    private static let byEmail = [
        SchemaShape.rule("users", "id"), SchemaShape.rule("letters", "email", via: "users.email"),
    ]
    private static let masked = [
        SchemaShape.rule("users", "id"),
        SchemaShape.rule(
            "letters",
            "email",
            via: "users.email",
            .anonymize([ColumnMask(column: "email", strategy: .text("gone"))])
        ),
    ]
    private static let ofX = [
        SchemaShape.rule("users", "id"),
        SchemaShape.rule(
            "letters",
            "email",
            via: "users.email",
            where: [ColumnCondition(column: "kind", test: .equals(.text("y")))]
        ),
    ]
    private static let dated = [
        SchemaShape.rule("users", "id", dated: true),
        SchemaShape.rule("letters", "email", via: "users.email"),
    ]
    private static let chain = """
        CREATE TABLE users(id INTEGER PRIMARY KEY, login TEXT UNIQUE);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, u INTEGER REFERENCES users ON DELETE CASCADE);
        CREATE TABLE items(id INTEGER PRIMARY KEY, o INTEGER REFERENCES orders ON DELETE CASCADE);
        INSERT INTO users VALUES (1, 'a'), (2, 'b'); INSERT INTO orders VALUES (1, 1), (2, 2);
        INSERT INTO items VALUES (1, 1), (2, 2);
        """
    private static let clearedChain = chain.replacing(
        "users ON DELETE CASCADE",
        with: "users ON DELETE SET NULL"
    )
    private static let ownedChain =
        clearedChain
        + "ALTER TABLE orders ADD COLUMN seller TEXT; UPDATE orders SET seller = 'b';"
    fileprivate static let bareChain = """
        CREATE TABLE users(id INTEGER PRIMARY KEY, login TEXT UNIQUE);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, u INTEGER);
        CREATE TABLE items(id INTEGER PRIMARY KEY, o INTEGER);
        INSERT INTO users VALUES (1, 'a'), (2, 'b'); INSERT INTO orders VALUES (1, 1), (2, 2);
        INSERT INTO items VALUES (1, 1), (2, 2);
        """
    private static let byOrder = [
        SchemaShape.rule("users", "login"), SchemaShape.rule("orders", "u", via: "users.id"),
        SchemaShape.rule("items", "o", via: "orders.id"),
    ]

    fileprivate static let account = [
        SchemaShape.rule("users", "id", type: .integer),
        SchemaShape.rule("orders", "u", type: .integer),
        SchemaShape.rule("items", "o", via: "orders.id"),
    ]

    static let all = [
        GoneStart(
            name: "an old item of no order, while the account is there",
            sql: bareChain,
            rules: account,
            deletes: "DELETE FROM orders WHERE u = 1; DELETE FROM items WHERE id = 1;"
                + " INSERT INTO items VALUES (9, 99)",
            unreached: [],
            user: "1"
        ),
        GoneStart(
            name: "an item of no order, and no account",
            sql: bareChain,
            rules: account,
            deletes: "DELETE FROM orders WHERE u = 1; DELETE FROM users WHERE id = 1",
            unreached: ["items: o via orders.id"],
            user: "1"
        ),
        GoneStart(
            name: "an item of no order, and no account but a profile",
            sql: bareChain
                + "CREATE TABLE profiles(u INTEGER PRIMARY KEY); INSERT INTO profiles VALUES (1);",
            rules: account + [SchemaShape.rule("profiles", "u", type: .integer)],
            deletes: "DELETE FROM orders WHERE u = 1; DELETE FROM users WHERE id = 1",
            unreached: ["items: o via orders.id"],
            user: "1"
        ),
        GoneStart(
            name: "items whose order is zero, which is none",
            sql: bareChain,
            rules: account,
            deletes: "DELETE FROM orders WHERE u = 1; DELETE FROM users WHERE id = 1;"
                + " UPDATE items SET o = 0 WHERE id = 1; INSERT INTO items VALUES (9, 0)",
            unreached: [],
            user: "1"
        ),
        GoneStart(
            name: "letters to an address that no user has",
            sql: letters,
            rules: byEmail,
            deletes: "DELETE FROM users WHERE id = 'a'",
            unreached: ["letters: email via users.email"]
        ),
        GoneStart(
            name: "all letters are other users' or nobody's",
            sql: letters,
            rules: byEmail,
            deletes: "DELETE FROM users WHERE id = 'a'; DELETE FROM letters WHERE n = 1",
            unreached: []
        ),
        GoneStart(
            name: "the user's row is there",
            sql: letters,
            rules: byEmail,
            deletes: "INSERT INTO letters VALUES (4, 'c@x', 'x')",
            unreached: []
        ),
        GoneStart(
            name: "the letters that are left are masked already",
            sql: letters,
            rules: masked,
            deletes: "DELETE FROM users WHERE id = 'a'; UPDATE letters SET email = 'gone'"
                + " WHERE n = 1",
            unreached: []
        ),
        GoneStart(
            name: "a letter is not masked",
            sql: letters,
            rules: masked,
            deletes: "DELETE FROM users WHERE id = 'a'",
            unreached: ["letters: email via users.email"]
        ),
        GoneStart(
            name: "the rule is about other letters",
            sql: letters,
            rules: ofX,
            deletes: "DELETE FROM users WHERE id = 'a'",
            unreached: []
        ),
        GoneStart(
            name: "the user's row is of a later account",
            sql: letters,
            rules: dated,
            deletes: "UPDATE users SET made = 1750000000, email = 'new@x' WHERE id = 'a'",
            unreached: ["letters: email via users.email"]
        ),
        GoneStart(
            name: "foreign keys took what hung on the user's row",
            sql: chain,
            rules: byOrder,
            deletes: "DELETE FROM users WHERE id = 1",
            unreached: []
        ),
        GoneStart(
            name: "a foreign key that was set to NULL",
            sql: clearedChain,
            rules: byOrder,
            deletes: "DELETE FROM users WHERE id = 1",
            unreached: ["items: o via orders.id", "orders: u via users.id"]
        ),
        GoneStart(
            name: "a foreign key that was set to NULL in no row",
            sql: clearedChain,
            rules: byOrder,
            deletes: "DELETE FROM orders WHERE id = 1; DELETE FROM users WHERE id = 1",
            unreached: []
        ),
        GoneStart(
            name: "a foreign key that is NULL in a row of somebody else",
            sql: ownedChain,
            rules: byOrder + [SchemaShape.rule("orders", "seller")],
            deletes: "DELETE FROM users WHERE id = 1",
            unreached: []
        ),
        GoneStart(
            name: "a foreign key that the application did not switch on",
            sql: chain,
            rules: byOrder,
            deletes: "PRAGMA foreign_keys = OFF; DELETE FROM users WHERE id = 1",
            unreached: ["items: o via orders.id", "orders: u via users.id"],
            kinds: [.sqlite]
        ),
        GoneStart(
            name: "a foreign key that was not validated",
            sql: bareChain,
            rules: byOrder,
            deletes: "DELETE FROM users WHERE id = 1; ALTER TABLE orders"
                + " ADD FOREIGN KEY (u) REFERENCES users NOT VALID;"
                + " ALTER TABLE items ADD FOREIGN KEY (o) REFERENCES orders",
            unreached: ["items: o via orders.id", "orders: u via users.id"],
            kinds: [.postgresql]
        ),
        GoneStart(
            name: "the rows that the first step led to are gone, too",
            sql: bareChain,
            rules: byOrder,
            deletes: "DELETE FROM users WHERE id = 1; DELETE FROM orders WHERE id = 1",
            unreached: ["items: o via orders.id"]
        ),
        GoneStart(
            name: "rows that the user's rows referred to",
            sql: SchemaShape.owned.sql,
            rules: SchemaShape.owned.rules,
            deletes: "DELETE FROM customers WHERE u = 'a'",
            unreached: ["addresses: id via customers.address"]
        ),
        GoneStart(
            name: "a name in texts",
            sql: InsideShape.mentions.sql,
            rules: InsideShape.mentions.rules,
            deletes: "DELETE FROM users WHERE id = '1'",
            unreached: ["t: d via users.name"],
            user: "1"
        ),
        GoneStart(
            name: "no texts",
            sql: InsideShape.mentions.sql,
            rules: InsideShape.mentions.rules,
            deletes: "DELETE FROM users WHERE id = '1'; UPDATE t SET d = NULL",
            unreached: [],
            user: "1"
        ),
    ]
}

@Suite("Rules that go by the user's row say when it was gone", .serialized)
struct ChainStartTests {
    private static let cutoff = WallTime(unixMilliseconds: 1_700_000_000_000)

    private static func unreached(_ answer: PurgeAnswer?) -> [String]? {
        guard case .done(let counts)? = answer else { return nil }
        return counts.unreached.map { entry in
            guard case .unreached(let column, let via) = entry.action else { return entry.name }
            return "\(entry.name): \(column) via \(via)"
        }.sorted()
    }

    @Test(
        "a rule to whose rows nothing leads is not called erased where one may be the user's",
        arguments: GoneStart.all,
        ShapeKind.allCases
    )
    func gone(start: GoneStart, kind: ShapeKind) async throws {
        guard start.kinds.contains(kind) else { return }
        let app = try kind.open(start.sql)
        try app.run(start.deletes)
        let store = app.store(start.rules)
        #expect(await store.diagnose() == [])
        let user = order(start.user, cutoff: Self.cutoff)
        let first = await store.purge([user])
        #expect(Self.unreached(first.first) == start.unreached)
        // Nothing that it finds is left.
        #expect(await store.verify([user]) == [.clean])
    }

    @Test("the purge itself takes the user's row last", arguments: ShapeKind.allCases)
    func own(kind: ShapeKind) async throws {
        let app = try kind.open(SchemaShape.byValue.sql)
        let store = app.store(SchemaShape.byValue.rules)
        try app.run("INSERT INTO letters VALUES (9, 'nobody@x')")
        let answers = await store.purge([order("a"), order("b")])
        #expect(answers.map(Self.unreached) == [[], []])
        // Who has never been there may have had an address.
        let unknown = await store.purge([order("z")])
        #expect(Self.unreached(unknown.first) == ["letters: email via users.email"])
        // No row can have this id.
        let chain = try kind.open(SchemaShape.polymorphic.sql)
        let tags = await chain.store(SchemaShape.polymorphic.rules).purge([order("x")])
        #expect(Self.unreached(tags.first) == [])
    }

    @Test(
        "a row without a parent may be the user's if it had one at the first check",
        arguments: ShapeKind.allCases
    )
    func since(kind: ShapeKind) async throws {
        let more = "INSERT INTO users VALUES (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f');"
        let app = try kind.open(
            GoneStart.bareChain + more + "INSERT INTO items VALUES (9, 99);"
        )
        func purge(_ user: String) async -> [String]? {
            let store = app.store(GoneStart.account)
            #expect(await store.diagnose() == [])
            return Self.unreached(await store.purge([order(user, cutoff: Self.cutoff)]).first)
        }
        let items = ["items: o via orders.id"]
        #expect(await purge("3") == [])
        try app.run("DELETE FROM orders WHERE u = 1")
        #expect(await purge("1") == items)
        #expect(try app.dump("items").count == 3)
        // Whose it is nothing says, also after a restart.
        #expect(await purge("4") == items)
        try app.run("DELETE FROM items WHERE id IN (1, 9)")
        #expect(await purge("5") == [])
        try app.run("DELETE FROM orders WHERE u = 2")
        #expect(await purge("6") == items)
    }

    @Test("without a first check any row without a parent may be the user's")
    func unchecked() async throws {
        let app = try AppDatabase(GoneStart.bareChain + "INSERT INTO items VALUES (9, 99);")
        try app.execute("DELETE FROM orders WHERE u = 1; DELETE FROM items WHERE id = 1")
        let answers = await app.store(GoneStart.account).purge([order("1", cutoff: Self.cutoff)])
        #expect(Self.unreached(answers.first) == ["items: o via orders.id"])
    }

    @Test("after the first purge its count is the note, also without a check")
    func countedByPurge() async throws {
        let app = try AppDatabase(
            GoneStart.bareChain + "INSERT INTO users VALUES (3, 'c'), (4, 'd'), (5, 'e');"
                + "INSERT INTO items VALUES (9, 99);"
        )
        func purge(_ user: String) async -> [String]? {
            let store = app.store(GoneStart.account)
            return Self.unreached(await store.purge([order(user, cutoff: Self.cutoff)]).first)
        }
        #expect(await purge("3") == ["items: o via orders.id"])
        #expect(await purge("4") == [])
        try app.execute("INSERT INTO items VALUES (10, 98)")
        #expect(await purge("5") == ["items: o via orders.id"])
    }

    @Test("a check and users without an account lower the note", arguments: [true, false])
    func lowered(byCheck: Bool) async throws {
        let app = try AppDatabase(
            GoneStart.bareChain + "INSERT INTO users VALUES (3, 'c');"
                + "INSERT INTO items VALUES (8, 98), (9, 99);"
        )
        let store = app.store(GoneStart.account)
        #expect(await store.diagnose() == [])
        try app.execute("DELETE FROM items WHERE id = 9")
        if byCheck {
            #expect(await store.diagnose() == [])
        } else {
            let gone = await store.purge([order("77", cutoff: Self.cutoff)])
            #expect(Self.unreached(gone.first) == ["items: o via orders.id"])
        }
        try app.execute("INSERT INTO items VALUES (10, 97)")
        let answers = await store.purge([order("3", cutoff: Self.cutoff)])
        #expect(Self.unreached(answers.first) == ["items: o via orders.id"])
    }

    @Test("a check at the start counts nothing")
    func started() async throws {
        let app = try AppDatabase(GoneStart.bareChain)
        #expect(await app.store(GoneStart.account).startupProblems() == [])
        #expect(app.notes.names == [])
    }

    @Test("the note of another database or rule does not count")
    func otherPlace() async throws {
        let (one, other) = (
            try AppDatabase(GoneStart.bareChain + "INSERT INTO items VALUES (9, 99);"),
            try AppDatabase(GoneStart.bareChain + "INSERT INTO items VALUES (9, 99);")
        )
        #expect(await one.store(GoneStart.account).diagnose() == [])
        try other.execute("DELETE FROM orders WHERE u = 1; DELETE FROM items WHERE id = 9")
        var plan = SQLiteStorePlan(
            name: StoreName("app-db"),
            path: other.path,
            rules: GoneStart.account
        )
        plan.notes = one.notes
        let store = SQLiteStore(plan: plan, hasher: StandInHasher(), clock: .still())
        let answers = await store.purge([order("1", cutoff: Self.cutoff)])
        #expect(Self.unreached(answers.first) == ["items: o via orders.id"])
    }

    @Test("a note that cannot be read is not replaced")
    func unread() async throws {
        let app = try AppDatabase(GoneStart.bareChain)
        #expect(await app.store(GoneStart.account).diagnose() == [])
        try app.execute("DELETE FROM orders WHERE u = 1")
        app.notes.isUnreadable.store(true, ordering: .relaxed)
        #expect(await app.store(GoneStart.account).diagnose() == [])
        app.notes.isUnreadable.store(false, ordering: .relaxed)
        let answers = await app.store(GoneStart.account)
            .purge([order("1", cutoff: Self.cutoff)])
        #expect(Self.unreached(answers.first) == ["items: o via orders.id"])
    }

    /// Rows that lead to no user and are usual in the application.
    private static let usual: [(sql: String, rules: [TableRule], insert: String)] = [
        (
            """
            CREATE TABLE contacts(id INTEGER PRIMARY KEY, u INTEGER, email TEXT);
            CREATE TABLE letters(id INTEGER PRIMARY KEY, email TEXT);
            """,
            [
                SchemaShape.rule("contacts", "u", type: .integer),
                SchemaShape.rule("letters", "email", via: "contacts.email"),
            ],
            "INSERT INTO letters VALUES (1, 'visitor@x')"
        ),
        (
            """
            CREATE TABLE orders(id INTEGER PRIMARY KEY, u INTEGER);
            CREATE TABLE items(id INTEGER PRIMARY KEY,
                o INTEGER REFERENCES orders ON DELETE SET NULL);
            """,
            [
                SchemaShape.rule("orders", "u", type: .integer),
                SchemaShape.rule("items", "o", via: "orders.id"),
            ],
            "INSERT INTO items VALUES (1, NULL)"
        ),
        (
            """
            CREATE TABLE addresses(id INTEGER PRIMARY KEY, city TEXT);
            CREATE TABLE customers(id INTEGER PRIMARY KEY, u INTEGER, address INTEGER);
            """,
            [
                SchemaShape.rule("customers", "u", type: .integer),
                SchemaShape.rule("addresses", "id", via: "customers.address"),
            ],
            "INSERT INTO addresses VALUES (1, 'A')"
        ),
    ]

    @Test(
        "while the account stands, rows that are usual without a parent say nothing",
        arguments: ShapeKind.allCases
    )
    func usualRows(kind: ShapeKind) async throws {
        for (sql, rules, insert) in Self.usual {
            let app = try kind.open(
                "CREATE TABLE users(id INTEGER PRIMARY KEY); INSERT INTO users VALUES (1);" + sql
            )
            let store = app.store([SchemaShape.rule("users", "id", type: .integer)] + rules)
            #expect(await store.diagnose() == [])
            try app.run(insert)
            let answers = await store.purge([order("1", cutoff: Self.cutoff)])
            #expect(Self.unreached(answers.first) == [], "\(insert)")
        }
    }

    @Test("orphans are counted in another session where the first is lost after the purge")
    func lost() async throws {
        let app = try PostgreSQLFixture(
            GoneStart.bareChain + "DELETE FROM orders; DELETE FROM items;"
        )
        let cuts = Ticks()
        let store = app.store(app.plan(GoneStart.account)) { statement in
            guard statement.contains("pg_current_wal_flush_lsn") else { return true }
            return cuts.value.wrappingAdd(1, ordering: .relaxed).newValue != 1
        }
        let answers = await store.purge([order("1", cutoff: Self.cutoff)])
        #expect(Self.unreached(answers.first) == [])
    }

    /// A user with more rows than one transaction takes, who goes before them.
    private static let many =
        """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT UNIQUE);
        CREATE TABLE letters(n INTEGER PRIMARY KEY, email TEXT);
        CREATE TABLE logs(n INTEGER PRIMARY KEY, u TEXT);
        INSERT INTO users VALUES ('a', 'a@x'); INSERT INTO letters VALUES (1, 'a@x'), (2, 'b@x');

        """
        + "INSERT INTO logs WITH d(x) AS ("
        + (0...9).map { "SELECT \($0)" }.joined(separator: " UNION ALL ")
        + ") SELECT a.x + 10 * b.x + 100 * c.x + 1000 * e.x, 'a' FROM d a, d b, d c, d e;"

    /// Its second transaction fails, and no later one.
    private static func failing(
        _ app: any ShapeStore,
        _ rules: [TableRule]
    ) throws -> any PurgeStore {
        let ticks = Ticks()
        let count = { @Sendable in ticks.value.wrappingAdd(1, ordering: .relaxed).newValue }
        let isCut = { @Sendable (statement: String) in statement != "COMMIT" || count() != 2 }
        if let app = app as? PostgreSQLFixture {
            return app.store(app.plan(rules), beforeStatement: isCut)
        }
        if let app = app as? MySQLFixture {
            return app.store(app.plan(rules), beforeStatement: isCut)
        }
        let app = try #require(app as? AppDatabase)
        let clock = StoreClock.hasty { _ in
            if count() == 1 { throw CancellationError() }
        }
        return SQLiteStore(
            plan: SQLiteStorePlan(name: StoreName("app-db"), path: app.path, rules: rules),
            hasher: StandInHasher(),
            clock: clock
        )
    }

    @Test("a purge that failed behind the user's row goes on", arguments: ShapeKind.allCases)
    func failed(kind: ShapeKind) async throws {
        let rules = [
            SchemaShape.rule("letters", "email", via: "users.email"),
            SchemaShape.rule("users", "id"), SchemaShape.rule("logs", "u"),
        ]
        let app = try kind.open(Self.many)
        let store = try Self.failing(app, rules)
        let failed = await store.purge([order("a")])
        #expect(Self.unreached(failed.first) == nil)
        #expect(try app.dump(["users", "letters"]) == ["users": [], "letters": ["2|b@x"]])
        let next = await store.purge([order("a")])
        #expect(Self.unreached(next.first) == [])
        // Another one does not know what the first had reached.
        let other = await app.store(rules).purge([order("a")])
        #expect(Self.unreached(other.first) == ["letters: email via users.email"])
    }
}
