import Engine
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("A MySQL statement that takes too long", .serialized) struct MySQLTimeoutTests {
    /// A trigger sleeps at one of the rows: in the third chunk of 700 or more.
    private static let schema = """
        CREATE TABLE posts(id bigint AUTO_INCREMENT PRIMARY KEY, u varchar(9) NOT NULL, body text,
            KEY (u));
        INSERT INTO posts(u, body) SELECT concat('u', seq % 3), concat('row ', seq)
            FROM seq_0_to_5999;
        CREATE TRIGGER slow_delete BEFORE DELETE ON posts FOR EACH ROW
            IF OLD.u = 'u1' AND OLD.body = 'row 4000' THEN DO SLEEP(300); END IF
        """
    private let others = """
        SELECT u, count(*), sum(crc32(concat(id, body))) FROM posts
        WHERE u NOT IN ('u0', 'u1') GROUP BY u
        """
    private let rule = TableRule(table: "posts", column: "u", action: .delete)

    /// Seconds for a statement, the first of which only the sleep takes longer than: on a machine
    /// that is held up it may be a later one.
    private static let limits = [2, 16, 128]

    private func store(
        _ app: MySQLFixture,
        _ rule: TableRule,
        limit: Duration = .milliseconds(900)
    ) -> MySQLStore {
        var plan = app.plan([rule], timeout: limit)
        plan.lockTimeout = .seconds(300)
        return app.store(plan)
    }

    @Test(
        "a slow trigger: the statement is rolled back whole, its neighbours go on, a retry ends it"
    )
    func trigger() async throws {
        var app = try MySQLFixture(Self.schema)
        let before = try app.sql(others)
        let users = ["u0", "u1", "nobody"].map { order($0) }
        let expected = [
            "posts delete, cutoff: none 2000", "unusable_answer", "posts delete, cutoff: none 0",
        ]
        var answers: [String] = []
        let took = try await ContinuousClock().measure {
            for limit in Self.limits where answers != expected {
                app = try MySQLFixture(Self.schema)
                answers = await self.store(app, rule, limit: .seconds(limit)).purge(users)
                    .map(\.text)
            }
        }
        #expect(answers == expected)
        if Bars.areHeld {
            #expect(took < .seconds(20), "the server's limit ended it, not the trigger")
        }
        let left = try #require(Int(app.sql("SELECT count(*) FROM posts WHERE u = 'u1'")[0]))
        #expect(left > 0 && left < 2000, "chunks before it are committed, its own is not: \(left)")
        #expect(try app.sql("SELECT count(*) FROM posts WHERE body = 'row 4000'") == ["1"])
        let store = app.store(rule)
        #expect(await store.verify([order("u1")]) == [.remaining(left)])
        let hasty = self.store(app, rule)
        #expect(await hasty.purge([order("u1")]).map(\.text) == ["unusable_answer"])
        try app.sql("DROP TRIGGER slow_delete")
        guard case .done = await store.purge([order("u1")]).first else {
            Issue.record("it does not end")
            return
        }
        #expect(await store.verify([order("u0"), order("u1")]) == [.clean, .clean])
        #expect(try app.sql(others) == before)
    }

    @Test("a mask that times out leaves no row half masked")
    func mask() async throws {
        let app = try MySQLFixture(Self.schema.replacing("BEFORE DELETE", with: "BEFORE UPDATE"))
        let before = try app.sql(others)
        let rule = TableRule(
            table: "posts",
            column: "u",
            action: .anonymize([ColumnMask(column: "body", strategy: .random)]),
            reason: "tax"
        )
        let store = app.store(rule)
        let hasty = self.store(app, rule)
        #expect(await hasty.purge([order("u1")]).map(\.text) == ["unusable_answer"])
        #expect(await store.verify([order("u1")]) != [.clean])
        try app.sql("DROP TRIGGER slow_delete")
        guard case .done = await store.purge([order("u1")]).first else {
            Issue.record("it does not end")
            return
        }
        #expect(await store.verify([order("u1")]) == [.clean])
        let left = "SELECT count(*) FROM posts WHERE u = 'u1' AND body LIKE 'row%'"
        #expect(try app.sql(left) == ["0"])
        #expect(try app.sql(others) == before)
    }

    @Test("a lock that is waited for longer than a statement may take")
    func lock() async throws {
        let app = try MySQLFixture(Self.schema)
        let holder = try app.session()
        try holder.run("LOCK TABLES posts WRITE")
        let store = app.store(rule)
        let hasty = self.store(app, rule)
        #expect(await hasty.purge([order("u0")]).map(\.text) == ["unusable_answer"])
        #expect(await hasty.verify([order("u0")]) == [.failure(.unusable)])
        try holder.run("UNLOCK TABLES")
        #expect(
            await store.purge([order("u0")]).map(\.text) == ["posts delete, cutoff: none 2000"]
        )
        #expect(await store.verify([order("u0")]) == [.clean])
    }

    @Test("a server without a limit of its own is asked to end the statement")
    func killed() async throws {
        let app = try MySQLFixture("CREATE TABLE t(u varchar(9))")
        let real = StoreClock.real().uptime
        let slow = StoreClock.patient(slowedBy: 60).uptime
        // Two seconds for the statement, and minutes for everything before and after it.
        let sent = Mutex<Duration?>(nil)
        let plan = app.plan([], timeout: .seconds(2))
        let session = try MySQLSession.open(plan, signal: nil) {
            slow() + (sent.withLock { $0 }.map { min(real() - $0, .seconds(4)) } ?? .zero)
        }
        session.endsStatements = false
        try session.run("SET max_statement_time = 0")
        sent.withLock { $0 = real() }
        let took = ContinuousClock().measure {
            let error = #expect(throws: SQLError.self) { try session.query("SELECT SLEEP(300)") }
            #expect(error.map { $0.kind == .timeout } ?? true)
        }
        if Bars.areHeld { #expect(took < .seconds(6)) }
        // The session is as good as before; now it has more time.
        session.endsStatements = true
        #expect(try session.query("SELECT 7").text(0) == "7")
    }
}
