import Engine
import GRDB
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("How the rows of a plan are counted") struct RowCountTests {
    /// The user's column alone in an index, first of two, in none, without regard to case, and in
    /// keys of tables without rowids, in the column's order and against it.
    private static let tables = [
        "(u TEXT, made INTEGER, n REAL, name TEXT); CREATE INDEX tu ON t(u)",
        "(u TEXT, made INTEGER, n REAL, name TEXT); CREATE INDEX tu ON t(u, made)",
        "(u TEXT, made INTEGER, n REAL, name TEXT)",
        "(u TEXT COLLATE NOCASE, made INTEGER, n REAL, name TEXT); CREATE INDEX tu ON t(u)",
        "(u TEXT, made INTEGER, n REAL, name TEXT, PRIMARY KEY (u, n)) WITHOUT ROWID",
        "(u TEXT, made INTEGER, n REAL, name TEXT, PRIMARY KEY (n DESC, u)) WITHOUT ROWID",
    ]
    private static let fill = """
        ;WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
        INSERT INTO t(u, made, n, name) SELECT CASE i % 4 WHEN 0 THEN 'b' WHEN 1 THEN 'A' ELSE 'a'
        END, CASE i % 10 WHEN 3 THEN 9000000000 WHEN 6 THEN NULL ELSE 1700000000 END, i / 3.0,
        iif(i % 7 = 0, 'gone', 'A') FROM c;
        """
    private static let masked = TableAction.anonymize([
        ColumnMask(column: "name", strategy: .text("gone"))
    ])

    /// Time passes by so much at every look.
    private static func clock(_ step: Duration) -> StoreClock {
        let ticks = Ticks()
        return StoreClock(
            wall: { present },
            uptime: { step * Int(ticks.value.wrappingAdd(1, ordering: .relaxed).newValue) },
            rest: { _ in },
            entropy: { 7 }
        )
    }

    /// Counts, however long it takes.
    ///
    /// - Returns: The line of the plan, and in how many pieces it was counted.
    private static func count(
        _ app: AppDatabase,
        _ action: TableAction,
        _ way: SQLiteRowCount.Way,
        _ clock: StoreClock
    ) throws -> (item: PlanItem, pieces: Int) {
        let name = StoreName("app-db")
        let creation = CreationColumn(column: "made", unit: .unixSeconds)
        let rule = TableRule(
            table: "t",
            column: "u",
            action: action,
            reason: "tax",
            creation: creation
        )
        let configuration = SQLiteStorePlan(name: name, path: app.path, rules: [rule])
        let queue = try SQLiteConnection.open(
            configuration,
            hasher: StandInHasher(),
            clock: clock
        )
        return try queue.writeWithoutTransaction { db in
            let reader = SQLiteReader(db: db, store: name)
            let rules = configuration.workRules()
            let plan = try #require(try SQLiteDiagnosis(reader, rules, at: present).plan)
            let transaction = SQLiteCountTransaction(reader: reader, plan: plan, clock: clock)
            var count = SQLiteRowCount(way)
            var pieces = 0
            while !count.isAtEnd {
                let table = plan.tables[0]
                count = try transaction.advance(
                    count,
                    of: table,
                    table.work.counting,
                    for: order("a")
                )
                pieces += 1
            }
            return (try #require(count.item(of: plan.tables[0])), pieces)
        }
    }

    @Test(
        "each row once, whatever index there is and however small the pieces are",
        arguments: tables,
        [SQLiteRowCount.Way.whole, .byUser, .byTable]
    )
    func everyRow(table: String, way: SQLiteRowCount.Way) throws {
        let app = try AppDatabase("CREATE TABLE t" + table + Self.fill)
        let own = "SELECT count(*) FROM t WHERE u = 'a' COLLATE BINARY"
        let newer = " AND made > 8000000000"
        for action in [TableAction.delete, Self.masked] {
            let open = action == .delete ? "" : " AND name <> 'gone'"
            let expected = PlanItem(
                name: "t",
                action: action == .delete ? .delete : .anonymize,
                reason: "tax",
                count: try app.integer(own + open) - app.integer(own + open + newer),
                newerCount: try app.integer(own + open + newer),
                undatedCount: try app.integer(own + open + " AND made IS NULL")
            )
            for step in [Duration.zero, .milliseconds(8), .milliseconds(30)] {
                let (item, pieces) = try Self.count(app, action, way, Self.clock(step))
                #expect(item == expected, "\(way), \(step)")
                #expect(pieces > 1 || way == .whole || step == .zero)
                // The clock of a statement's deadline is the real one.
                if Bars.areHeld { #expect(pieces == 1 || way != .whole && step > .zero) }
            }
        }
    }

    @Test(
        "a verification in pieces finds what is left among masked rows, and rows spelled otherwise",
        arguments: [
            "(id INTEGER PRIMARY KEY, u, name TEXT); CREATE INDEX tu ON t(u)",
            "(id INTEGER PRIMARY KEY, u, name TEXT)",
            "(id, u, name TEXT, PRIMARY KEY (u, id)) WITHOUT ROWID",
        ]
    )
    func verification(table: String) async throws {
        let app = try AppDatabase("CREATE TABLE t" + table)
        try app.execute(
            """
            WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO t SELECT i, iif(i % 2, 'a', 'b'), 'name ' || i FROM n
            """
        )
        let masks = [ColumnMask(column: "name", strategy: .hash)]
        let rule = TableRule(table: "t", column: "u", action: .anonymize(masks), reason: "tax")
        let store = app.store(rule)
        #expect(await store.verifyInPieces(order("a")) != .clean)
        _ = await store.purge([order("a")])
        #expect(await store.verifyInPieces(order("a")) == .clean)
        #expect(await store.verifyInPieces(order("b")) != .clean)
        try app.execute("UPDATE t SET name = 'mine' WHERE id = 1999")
        #expect(await store.verifyInPieces(order("a")) == .remaining(1))
        try app.execute("UPDATE t SET u = x'61' WHERE id = 1999")
        let named = Obstacle(.spelling, at: "t", name: "u")
        #expect(await store.verifyInPieces(order("a")) == .failure(.blocked(named)))
    }

    @Test("a piece that is cut off is counted in smaller ones")
    func cutOff() {
        var count = SQLiteRowCount()
        #expect(count.deadline == SQLiteLimits.transaction)
        count.cutOff(behind: [])
        #expect(count.way == .byUser)
        count.cutOff(behind: [.integer(1)])
        #expect(count.way == .byUser)
        // Not one row in all that time.
        count.cutOff(behind: [])
        #expect(count.way == .byTable && count.deadline == SQLiteLimits.statementDeadline)
    }
}
