import Engine
import GRDB
import Lifecycle
import TestSupport
import Testing

@testable import Stores

@Suite("A SQLite store and long values", .serialized) struct LongValueTests {
    /// So many are more than memory may hold at once; without a bar a few chunks are enough.
    static let count = Bars.areHeld ? 120 : 12
    /// Rows of 2 MiB, and one of another user.
    static let rows = """
        CREATE INDEX pu ON p(u);
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i <= \(count))
        INSERT INTO p(id, u, t) SELECT i, iif(i = 7, 'b', 'a'), hex(zeroblob(1048576)) FROM c;
        """
    static let mask = TableRule(
        table: "p",
        column: "u",
        action: .anonymize([ColumnMask(column: "t", strategy: .text("gone"))]),
        reason: "law"
    )

    @Test(
        "a chunk is bounded by bytes, so 240 MiB of one user need little memory",
        arguments: [
            ("CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, t TEXT NOT NULL)", mask),
            ("CREATE TABLE p(id INT PRIMARY KEY, u TEXT, t TEXT NOT NULL) WITHOUT ROWID", mask),
            (
                "CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, t JSON);"
                    + "CREATE TABLE c(p INTEGER REFERENCES p ON DELETE CASCADE)",
                TableRule(table: "p", column: "u", action: .delete)
            ),
        ]
    )
    func bounded(schema: String, rule: TableRule) async throws {
        // SQLite keeps what a statement may have to take back in memory in WAL mode alone.
        let app = try AppDatabase(schema + ";" + Self.rows, wal: true)
        let other = try app.texts("SELECT id, length(t), substr(t, 1, 9) FROM p WHERE u = 'b'")
        let store = app.store(rule, clock: .real())
        #expect(await store.diagnose() == [])
        let memory = try PeakMemory.whereHeld()
        let answers = await store.purge([order("a")])
        if let grown = try memory?.grownMebibytes() {
            Swift.print("bench: \(Self.count) rows of 2 MiB, \(grown) MiB more resident")
            // The page cache has 16 MiB.
            #expect(grown <= 48)
        }
        #expect(answers.map(\.text).first?.hasSuffix(" \(Self.count)") ?? false, "\(answers)")
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(
            try app.texts("SELECT id, length(t), substr(t, 1, 9) FROM p WHERE u = 'b'") == other
        )
    }

    @Test("rows without a time are counted as such in each chunk")
    func undated() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, t TEXT, made INTEGER);
            INSERT INTO p VALUES (1, 'a', hex(zeroblob(1500000)), NULL),
                (2, 'a', hex(zeroblob(1500000)), 1600000000), (3, 'a', 'x', 1600000000),
                (4, 'a', 'x', NULL);
            """
        )
        let rule = TableRule(
            table: "p",
            column: "u",
            action: .delete,
            creation: CreationColumn(column: "made", unit: .unixSeconds)
        )
        let answers = await app.store(rule).purge([order("a")])
        #expect(answers.map(\.text) == ["p delete 2; p delete, undated rows 2"])
    }

    @Test(
        "a value that is not read ends no purge, and one that is blocks it by its table",
        arguments: [
            // Not read at all, or only for its length.
            ("p(id INTEGER PRIMARY KEY, u TEXT, t)", "(1, 'a', zeroblob(17000000))", "", false),
            ("p(id INTEGER PRIMARY KEY, u TEXT, t)", "(1, 'a', hex(zeroblob(8500000)))", "", false),
            (
                "p(id INTEGER PRIMARY KEY, u TEXT, t);"
                    + "CREATE TABLE c(p INTEGER REFERENCES p ON DELETE CASCADE)",
                "(1, 'a', 'x'), (2, 'a', hex(zeroblob(8500000))), (3, 'a', 'y')", "", false
            ),
            // Made by a trigger.
            (
                "p(id INT, u TEXT, t TEXT)", "(1, 'a', 'x')",
                "CREATE TRIGGER g AFTER DELETE ON p BEGIN"
                    + " INSERT INTO p VALUES (9, 'z', hex(zeroblob(499000000))); END", true
            ),
        ] as [(String, String, String, Bool)]
    )
    func longest(schema: String, rows: String, trigger: String, isBlocked: Bool) async throws {
        let app = try AppDatabase(
            "CREATE TABLE \(schema); INSERT INTO p VALUES \(rows); \(trigger)"
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        let answers = await store.purge([order("a")])
        guard isBlocked else {
            #expect(try app.integer("SELECT count(*) FROM p") == 0, "\(answers)")
            return
        }
        #expect(answers == [.failure(Self.blocked)])
        #expect(Self.blocked.obstacle?.text.hasSuffix("MiB); delete or shorten it") == true)
    }

    private static let blocked = EffectFailure.blocked(
        Obstacle(.size, at: "p", cause: SQLLimits.sizeText)
    )

    @Test("a plan and a list of users pass over what is too long to be an id")
    func plan() async throws {
        let app = try AppDatabase(
            "CREATE TABLE p(u TEXT, t TEXT);"
                + "INSERT INTO p VALUES (hex(zeroblob(8500000)), 'x'), ('a', 'x')"
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        let planned = await store.plan(order("a"))
        let listed = await store.users(where: { _ in true })
        guard case .items(let items) = planned, case .found(let users) = listed else {
            Issue.record("\(planned), \(listed)")
            return
        }
        #expect(items.map(\.count) == [1])
        #expect(users == [order("a").user])
    }

    @Test("a long value stops no user but one whose own row must be read", arguments: LongRow.all)
    func others(row: LongRow) async throws {
        let app = try AppDatabase(row.sql)
        let store = SQLiteStore(
            plan: SQLiteStorePlan(
                name: StoreName("app-db"),
                path: app.path,
                rules: row.rules,
                triggers: .checked,
                vacuum: .off
            ),
            hasher: StandInHasher(),
            clock: .still()
        )
        let orders = row.users.map { order($0) }
        let purged = await store.purge(orders)
        #expect(purged.last?.rowCounts != nil, "\(purged)")
        #expect(try app.texts(row.left) == row.texts)
        let verified = await store.verify(orders)
        #expect(verified.last == .clean)
        if row.isBlocked {
            #expect(purged.first == .failure(Self.blocked))
        } else {
            #expect(purged.first?.rowCounts != nil, "\(purged)")
            #expect(verified.first == .clean)
        }
    }

    @Test("a hold passes over values that are longer than its own")
    func holds() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, t);
            INSERT INTO p VALUES (1, 'a', hex(zeroblob(8500000))), (2, 'a', 'x'), (3, 'a', 'y');
            """
        )
        let store = app.store(TableRule(table: "p", column: "u", action: .delete))
        let hold = RowHoldTests.hold("p", [("t", ["x"])])
        let answers = await store.purge([order("a", holds: [hold])])
        #expect(try app.texts("SELECT id FROM p") == ["2"], "\(answers)")
        // Neither plan took the place of the other.
        let plans = await store.plans
        #expect(plans.keys.filter { !$0.holds.isEmpty }.count == 2)
    }

    @Test("a value that blocks its user is found before other writers have to wait")
    func locked() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT);
            INSERT INTO p VALUES (1, hex(zeroblob(8500000)) || '@a');
            """
        )
        var rule = TableRule(
            table: "p",
            column: "u",
            action: .anonymize([ColumnMask(column: "u", strategy: .text("gone"))]),
            reason: "law"
        )
        rule.inside = .text(before: "@", after: "")
        let store = app.store(rule)
        let plan = try await store.ready(sparingLongValues: true)
        let writer = try app.secondConnection()
        try await writer.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let orders = [order("a")]
        let after = try await store.read { reader in
            let begun = SQLitePurgeProgress(reachedBefore: [[:]]).isolated(.sparing)
            return try SQLitePurgeTransaction(reader, plan: plan, orders: orders, clock: .still())
                .run(begun)
        }
        #expect(after.answers == [.failure(Self.blocked)])
        try await writer.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }
}

/// Where a value stands that is longer than is read, and what a purge of `a` and `b` leaves.
struct LongRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sql: String
    let rules: [TableRule]
    let left: String
    var texts: [String]
    /// The purge of the first user has to read the value.
    var isBlocked = false
    var users = ["a", "b"]

    static let all = keys + insides + [ownInside] + chains + [later, generated] + own

    private static let long = "hex(zeroblob(8500000))"
    private static let deleting = TableRule(table: "p", column: "u", action: .delete)

    private static func masking(_ column: String, _ strategy: MaskStrategy) -> TableRule {
        TableRule(
            table: "p",
            column: "u",
            action: .anonymize([ColumnMask(column: column, strategy: strategy)]),
            reason: "law"
        )
    }

    // MARK: In a row of no user

    private static let keyShapes: [(name: String, columns: String, index: String, value: String)] =
        [
            ("a key without an index", "u TEXT, t TEXT", "", long),
            ("an indexed key", "u TEXT, t TEXT", "CREATE INDEX pu ON p(u);", long),
            ("a key that folds cases", "u TEXT COLLATE NOCASE, t TEXT", "", long),
            ("bytes as a key without a type", "u, t", "", "zeroblob(17000000)"),
            ("a text as a key without a type", "u, t", "", long),
        ]

    private static let keys = keyShapes.map { shape in
        LongRow(
            testDescription: shape.name,
            sql: """
                CREATE TABLE p(id INTEGER PRIMARY KEY, \(shape.columns)); \(shape.index)
                INSERT INTO p VALUES (1, \(shape.value), 'y'), (2, 'a', 'x'), (3, 'b', 'x');
                """,
            rules: [deleting],
            left: "SELECT t FROM p",
            texts: ["\"y\""]
        )
    }

    private static let json = JSONPath("$.u").map { InsideValue.json($0) }
    private static let jsonUsers = [#"{"u":"a"}"#, #"{"u":"b"}"#]

    private static let insideShapes: [(name: String, inside: InsideValue?, [String], String)] = [
        ("a text", .text(before: "@", after: ""), ["@a", "@b"], long),
        ("a list", .list(separator: ","), ["a,c", "b,c"], long),
        (
            "a list at the bound", .list(separator: ","), ["a,c", "b,c"],
            "substr(hex(zeroblob(8388608)), 1, 16777215)"
        ),
        ("JSON", json, jsonUsers, #"'{"u":"' || \#(long) || '"}'"#),
        ("JSON with escapes", json, jsonUsers, #"'{"u":"z\n","t":"' || \#(long) || '"}'"#),
        (
            "JSON with numbers", json, [#"{"u":42}"#, #"{"u":43}"#],
            #"'{"u":4,"t":"' || \#(long) || '"}'"#
        ),
        (
            "a long number in JSON", json, [#"{"u":42}"#, #"{"u":43}"#],
            "'{\"u\":' || replace(hex(zeroblob(4500000)), '0', '7') || '}'"
        ),
    ]

    private static let insides = insideShapes.flatMap { name, inside, texts, value in
        ["UTF-8", "UTF-16le"].map { encoding in
            holding(inside, texts, value, in: encoding, name: "\(name) with ids inside")
        }
    }

    /// The purge of `a` reads what holds the id.
    private static let ownInside = {
        let own = #"'{"t":"' || \#(long) || '","u":"\u0061"}'"#
        var row = holding(json, jsonUsers, own, in: "UTF-8", name: "JSON with the user's own id")
        (row.texts, row.isBlocked) = (["1"], true)
        return row
    }()

    private static func holding(
        _ inside: InsideValue?,
        _ texts: [String],
        _ value: String,
        in encoding: String,
        name: String
    ) -> LongRow {
        var rule = masking("u", .text("gone"))
        rule.inside = inside
        return LongRow(
            testDescription: "\(name), \(encoding)",
            sql: """
                PRAGMA encoding = '\(encoding)'; CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT);
                INSERT INTO p VALUES (1, \(value)), (2, '\(texts[0])'), (3, '\(texts[1])');
                """,
            rules: [rule],
            left: "SELECT count(*) FROM p WHERE u LIKE '%gone%'",
            texts: ["2"],
            users: texts[0].contains("42") ? ["42", "43"] : ["a", "b"]
        )
    }

    private static let chains = [("TEXT", "n"), ("TEXT COLLATE NOCASE", "N")].map { type, key in
        var hanging = deleting
        hanging.via = ParentColumn(table: "u", column: "id")
        return LongRow(
            testDescription: "a column by which rows hang, \(type)",
            sql: """
                CREATE TABLE u(id TEXT PRIMARY KEY, name TEXT);
                CREATE TABLE p(u \(type), t TEXT);
                INSERT INTO u VALUES ('n1', 'a'), ('n2', 'b');
                INSERT INTO p VALUES ('\(key)1', 'x'), ('\(key)2', 'x'), (\(long), 'y');
                """,
            rules: [TableRule(table: "u", column: "name", action: .delete), hanging],
            left: "SELECT t FROM p",
            texts: ["\"y\""]
        )
    }

    private static let later = LongRow(
        testDescription: "a key that was added with a default",
        sql: """
            CREATE TABLE p(id INTEGER PRIMARY KEY, t TEXT); INSERT INTO p VALUES (1, 'y');
            ALTER TABLE p ADD COLUMN u TEXT DEFAULT 'z';
            INSERT INTO p VALUES (2, 'y', \(long)), (3, 'x', 'a'), (4, 'x', 'b');
            """,
        rules: [deleting],
        left: "SELECT t FROM p",
        texts: ["\"y\"", "\"y\""]
    )

    // MARK: In a row of `a`

    /// SQLite 3.40 takes `t` for `u` there.
    private static let generated = LongRow(
        testDescription: "a text beside a generated column",
        sql: """
            CREATE TABLE p(id INTEGER PRIMARY KEY, g TEXT AS (upper(id)), u TEXT, t TEXT);
            INSERT INTO p VALUES (1, 'a', \(long)), (2, 'b', 'x');
            """,
        rules: [masking("t", .text("gone"))],
        left: "SELECT substr(t, 1, 4) FROM p",
        texts: ["\"0000\"", "\"gone\""],
        isBlocked: true
    )

    private static let ofSomeText = {
        var rule = deleting
        rule.conditions = [ColumnCondition(column: "t", test: .equals(.text("x")))]
        return rule
    }()

    private static let ownShapes:
        [(name: String, rule: TableRule, left: String, texts: [String], isBlocked: Bool)] = [
            (
                "a text that is anonymized", masking("t", .text("gone")), "t",
                ["\"gone\"", "\"gone\""], false
            ),
            ("a text that is nulled", masking("t", .null), "t", ["NULL", "NULL"], false),
            ("a text that is random then", masking("t", .random), "count(*)", ["2"], false),
            ("a text that is hashed", masking("t", .hash), "count(*)", ["2"], true),
            ("a text that is deleted", deleting, "count(*)", ["0"], false),
            ("a text of a condition", ofSomeText, "id", ["1"], false),
        ]

    private static let own = ownShapes.map { shape in
        LongRow(
            testDescription: shape.name,
            sql: """
                CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, t TEXT);
                INSERT INTO p VALUES (1, 'a', \(long)), (2, 'b', 'x');
                """,
            rules: [shape.rule],
            left: "SELECT \(shape.left) FROM p",
            texts: shape.texts,
            isBlocked: shape.isBlocked
        )
    }
}
