import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Replicas of a MySQL server", .serialized) struct MySQLReplicaTests {
    private static func copies(_ answer: PurgeAnswer) -> [String] {
        guard case .done(let counts) = answer else { return ["\(answer)"] }
        return counts.residualCopies.map(\.text).filter { $0.contains("replicas") }
    }

    @Test("the receipt counts the replicas that read the log, and says when it cannot know")
    func counts() async throws {
        let source = try MySQLServer("--log-bin=log", "--server-id=1", "--binlog-format=ROW")
        let app = try MySQLFixture(
            "CREATE TABLE t(u varchar(9), KEY (u)); INSERT INTO t VALUES ('x'), ('y'), ('z')",
            server: source
        )
        let rule = TableRule(table: "t", column: "u", action: .delete)
        #expect(Self.copies(await app.store(rule).purge([order("x")])[0]) == [])

        let replica = try MySQLServer("--server-id=2", "--read-only")
        try source.client(
            """
            CREATE USER copier@'%' IDENTIFIED BY 'x'; GRANT REPLICATION SLAVE ON *.* TO copier@'%';
            CREATE USER plain@localhost; GRANT ALL ON \(app.database).* TO plain@localhost;
            """
        )
        try replica.client(
            """
            CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = \(source.port),
                MASTER_USER = 'copier', MASTER_PASSWORD = 'x', MASTER_USE_GTID = slave_pos;
            START SLAVE;
            """
        )
        try source.client(
            """
            BEGIN NOT ATOMIC FOR i IN 1..2400 DO
                IF NOT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST
                    WHERE COMMAND = 'Binlog Dump') THEN DO SLEEP(0.05); END IF;
            END FOR;
            IF NOT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST
                WHERE COMMAND = 'Binlog Dump')
            THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no replica came'; END IF; END
            """
        )
        #expect(
            Self.copies(await app.store(rule).purge([order("y")])[0])
                == ["rows on 1 replicas, until they have replayed the deletion"]
        )
        let plain = app.store(app.plan([rule], user: "plain"))
        #expect(await plain.diagnose() == [])
        #expect(
            Self.copies(await plain.purge([order("z")])[0])
                == ["rows on replicas, if there are any"]
        )
        // What was erased went there by its rows, and nobody takes it for the store.
        let gone = MySQLStore(
            plan: {
                var plan = MySQLStorePlan(
                    name: StoreName("copy"),
                    place: .socket(replica.socket),
                    username: "root",
                    database: "mysql",
                    rules: [rule]
                )
                plan.statementTimeout = .seconds(300)
                return plan
            }(),
            hasher: StandInHasher(),
            clock: .patient()
        )
        #expect(await gone.purge([order("x")]) == [.failure(.throttled(retryAfter: nil))])
    }

    @Test("a log of statements is a problem")
    func statements() async throws {
        let server = try MySQLServer("--log-bin=log", "--binlog-format=STATEMENT")
        let app = try MySQLFixture("CREATE TABLE t(u varchar(9), KEY (u))", server: server)
        let rule = TableRule(table: "t", column: "u", action: .delete)
        let problems = await app.store(rule).diagnose()
        #expect(problems.map { $0.contains("binlog_format is STATEMENT; set it to ROW") } == [true])
    }
}
