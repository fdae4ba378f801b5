import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

/// With a real standby.
@Suite("Replicas of a PostgreSQL server", .serialized) struct PostgreSQLReplicaTests {
    private let app: PostgreSQLFixture

    init() throws {
        app = try PostgreSQLFixture(
            """
            CREATE TABLE posts(u text NOT NULL, n int);
            INSERT INTO posts SELECT 'u' || i, j
                FROM generate_series(1, 9) i, generate_series(1, 5) j;
            """
        )
    }

    /// Purges a user; for a replica it waits for minutes, or for a rest that takes `step`.
    private func purge(
        _ user: String,
        step: Duration = .zero
    ) async throws -> [PurgeCounts.ResidualCopies] {
        let slow = StoreClock.patient(slowedBy: 240)
        let rests = Ticks()
        let clock = StoreClock(
            wall: slow.wall,
            uptime: { slow.uptime() + step * Int(rests.value.load(ordering: .relaxed)) },
            rest: { time in
                try await slow.rest(time)
                rests.value.wrappingAdd(1, ordering: .relaxed)
            },
            entropy: slow.entropy
        )
        let store = app.store(
            TableRule(table: "posts", column: "u", action: .delete),
            clock: clock
        )
        let order = order(user)
        let answer = try #require(await store.purge([order]).first)
        guard case .done(let counts) = answer else {
            throw ServerFailure(text: "\(answer)")
        }
        #expect(counts.entries.map(\.rowCount) == [5])
        #expect(await store.verify([order]) == [.clean])
        return replicas(counts)
    }

    /// What lingers on replicas, without the server's own residual copies.
    private func replicas(_ counts: PurgeCounts) -> [PurgeCounts.ResidualCopies] {
        counts.residualCopies.filter { !$0.text.hasPrefix("dead rows") }
    }

    private func count(_ user: String, on standby: PostgreSQLStandby) throws -> String? {
        try standby.psql("SELECT count(*) FROM \(app.schema).posts WHERE u = '\(user)'").first
    }

    @Test("only one that has not followed is on the receipt, dated only by a lag that can be true")
    func lag() async throws {
        #expect(try await purge("u1") == [])
        let standby = try PostgreSQLStandby(of: app.server)
        defer { standby.close() }
        #expect(try await purge("u2") == [])
        #expect(try count("u2", on: standby) == "0")

        try standby.pause()
        let text = "rows on 1 replicas, until they have replayed the deletion"
        // No lag of before can be as long.
        let missed = try await purge("u3", step: .seconds(86_400))
        #expect(missed == [.init(.laggingReplicas, "1", until: nil)])
        #expect(try count("u3", on: standby) == "5", "the deletion is not replayed")

        try standby.resume()
        #expect(try await purge("u4") == [])
        #expect(try count("u3", on: standby) == "0")
        #expect(try count("u4", on: standby) == "0")

        try standby.delay("3s")
        // The lag is that of commits, as long as there are some.
        try app.server.begin(
            """
            DO $$ BEGIN FOR i IN 1..2400 LOOP
                EXIT WHEN EXISTS (SELECT FROM \(app.schema).posts WHERE u = 'end');
                INSERT INTO \(app.schema).posts VALUES ('other', i);
                COMMIT;
                PERFORM pg_sleep(0.05);
            END LOOP; END $$
            """
        )
        let measured = "(SELECT max(replay_lag) FROM pg_stat_replication) > '2s'"
        try app.server.psql(PostgreSQLServer.waiting(for: measured))
        // The last lag stays as it is: the standby has something to replay.
        try standby.pause()
        let late = try await purge("u5", step: .seconds(1))
        try app.sql("INSERT INTO posts VALUES ('end', 0)")
        #expect(late.map(\.text) == [text])
        let until = try #require(late.first?.until)
        #expect((2_000...300_000).contains(until.unixMilliseconds - present.unixMilliseconds))
        #expect(try count("u5", on: standby) == "5")
    }

    @Test("a role that may not see how far they are says that there are some")
    func unseen() async throws {
        let standby = try PostgreSQLStandby(of: app.server)
        defer { standby.close() }
        try app.sql(
            "GRANT USAGE ON SCHEMA \(app.schema) TO eraser;"
                + "GRANT SELECT, DELETE, UPDATE ON posts TO eraser"
        )
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        let plan = app.plan([rule], conninfo: "\(app.socket) user=eraser")
        guard case .done(let counts) = await app.store(plan).purge([order("u6")]).first else {
            Issue.record("not done")
            return
        }
        #expect(replicas(counts) == [.init(.laggingReplicas, "1", until: nil)])
    }

    @Test("dead rows and the log are named, dated where the operator has said how long they last")
    func residualCopies() async throws {
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        for kept in [nil, Duration.seconds(3600)] {
            var plan = app.plan([rule])
            plan.residualCopiesKept = kept
            let answer = await app.store(plan).purge([order("u7")]).first
            guard case .done(let counts) = answer else { return #expect(answer == nil) }
            #expect(counts.residualCopies.map(\.until) == [kept.map { present + $0 }])
            #expect(counts.residualCopies.first?.text.contains("VACUUM") == true)
        }
    }

    @Test("a commit is on disk where the application does without that")
    func synchronousCommit() async throws {
        let clock = StoreClock.patient()
        let loose = app.plan([], conninfo: "\(app.socket) user=loose")
        try app.server.psql(
            "CREATE ROLE loose LOGIN; ALTER ROLE loose SET synchronous_commit = off"
        )
        for (plan, expected) in [(loose, "local"), (app.plan([]), "on")] {
            let session = try PostgreSQLSession.open(plan, signal: nil, uptime: clock.uptime)
            let rows = try session.query("SHOW synchronous_commit", within: .seconds(120)).rows
            #expect(rows == [[expected]])
        }
    }
}
