import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("Chunks of a PostgreSQL store", .serialized) struct PostgreSQLChunkTests {
    static let columns = "(n int, u text NOT NULL, made timestamptz)"
    static let fill = """
        INSERT INTO t(n, u) SELECT i, 'u' || i FROM generate_series(1, 5000) i;
        CREATE INDEX ON t(u); ANALYZE t;
        """
    let rule = TableRule(table: "t", column: "u", action: .delete)

    @Test(
        "rows are deleted by their places, and no place is compared with all the others",
        arguments: [
            ("", false),
            (
                """
                 PARTITION BY RANGE (n);
                CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (2500);
                CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (2500) TO (9999)
                """, true
            ), ("; CREATE TABLE c() INHERITS (t)", true),
        ]
    )
    func places(parts: String, isHashed: Bool) throws {
        let app = try PostgreSQLFixture("CREATE TABLE t\(Self.columns)\(parts);\(Self.fill)")
        var maker = SQLPlanMaker<PostgreSQLDialect>(
            WorkRules(tables: [rule]),
            try app.session().schema()
        )
        let sql = try #require(maker.make()?.tables[0].work.chunkSQL)
        // As for a statement that comes again for the next user.
        let plan = try app.sql(
            """
            SET plan_cache_mode = force_generic_plan; PREPARE p(text, text, text) AS \(sql);
            EXPLAIN (COSTS off) EXECUTE p('u7', '0', '500')
            """
        )
        let text = plan.joined(separator: "\n")
        #expect(text.contains("Tid Scan on") && !text.contains("Nested Loop"), "\(text)")
        #expect(text.contains("hashed SubPlan") == isHashed, "\(text)")
    }

    @Test("a user without times costs the server one statement, one with times another")
    func statements() async throws {
        let app = try PostgreSQLFixture("CREATE TABLE t\(Self.columns);\(Self.fill)")
        let dated = TableRule(
            table: "t",
            column: "u",
            action: .delete,
            creation: CreationColumn(column: "made", unit: .timestamp)
        )
        for (rule, most) in [(rule, 1), (dated, 2)] {
            let count = Mutex(0)
            let store = app.store(rule, clock: .still()) { sql in
                if sql.contains("\"t\".\"u\"") { count.withLock { $0 += 1 } }
                return true
            }
            let users = (1...100).map { erase("u\($0 + most * 1000)") }
            let text = "t delete\(most == 1 ? ", cutoff: none" : "")"
            let answers = await store.purge(users).map(\.text)
            #expect(answers.allSatisfy { $0.hasPrefix(text) && $0.contains(" 1") }, "\(answers)")
            // What comes a second time is prepared, which is the same statement once more.
            #expect(count.withLock(\.self) <= most * 102)
            #expect(await store.verify(users).allSatisfy { $0 == .clean })
        }
    }

    @Test("rows of a table that inherits since the plan was made are not called erased")
    func heir() async throws {
        let app = try PostgreSQLFixture("CREATE TABLE t\(Self.columns);\(Self.fill)")
        // A plan that is old would be made anew.
        let store = app.store(rule, clock: .still())
        #expect(await store.diagnose() == [])
        try app.sql("CREATE TABLE c() INHERITS (t); INSERT INTO c(n, u) VALUES (1, 'u7')")
        #expect(await store.purge([erase("u7")]).map(\.text) == ["t delete, cutoff: none 1"])
        #expect(await store.verify([erase("u7")]) == [.remaining(1)])
        let next = app.store(rule)
        #expect(await next.purge([erase("u7")]).map(\.text) == ["t delete, cutoff: none 1"])
        #expect(await next.verify([erase("u7")]) == [.clean])
    }
}

/// The order to erase a user.
private func erase(_ user: String) -> PurgeOrder { order(user) }
