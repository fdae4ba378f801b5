import Engine
import Lifecycle
import TestSupport
import Testing

@testable import Stores

@Suite("A SQLite target and long values", .serialized) struct LongValueTests {
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
        let target = app.target(rule, clock: .real())
        #expect(await target.diagnose() == [])
        let memory = try PeakMemory.whereHeld()
        let answers = await target.purge([order("a")])
        if let grown = try memory?.grownMebibytes() {
            Swift.print("bench: \(Self.count) rows of 2 MiB, \(grown) MiB more resident")
            // The page cache has 16 MiB.
            #expect(grown <= 48)
        }
        #expect(answers.map(\.text).first?.hasSuffix(" \(Self.count)") ?? false, "\(answers)")
        #expect(await target.verify([order("a")]) == [.clean])
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
        let answers = await app.target(rule).purge([order("a")])
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
            // Compared with the id of each user.
            (
                "p(id INT, u TEXT, t TEXT)", "(1, 'a', 'x'), (2, hex(zeroblob(8500000)), 'x')", "",
                true
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
        let target = app.target(TableRule(table: "p", column: "u", action: .delete))
        let answers = await target.purge([order("a")])
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

    @Test("a plan names the table that it cannot count, and pauses no store")
    func plan() async throws {
        let app = try AppDatabase(
            "CREATE TABLE p(u TEXT, t TEXT); INSERT INTO p(u) VALUES (hex(zeroblob(8500000)))"
        )
        let target = app.target(TableRule(table: "p", column: "u", action: .delete))
        #expect(await target.plan(order("a")) == .failure(Self.blocked))
        #expect(await target.verify([order("a")]) == [.failure(Self.blocked)])
    }

    @Test("the long value of one user blocks no other")
    func others() async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT, t TEXT); CREATE INDEX pu ON p(u);
            INSERT INTO p VALUES (1, 'a', hex(zeroblob(8500000))), (2, 'b', 'x');
            """
        )
        let target = app.target(Self.mask)
        let orders = [order("a"), order("b")]
        let purged = await target.purge(orders)
        #expect(purged.first == .failure(Self.blocked))
        #expect(try app.texts("SELECT t FROM p WHERE u = 'b'") == ["\"gone\""])
        #expect(await target.verify(orders) == [.failure(Self.blocked), .clean])
    }
}
