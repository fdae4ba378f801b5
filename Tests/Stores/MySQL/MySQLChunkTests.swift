import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("Chunks of a MySQL store", .serialized) struct MySQLChunkTests {
    static let schema = """
        CREATE TABLE t(id int AUTO_INCREMENT PRIMARY KEY, u varchar(20) NOT NULL, mail text,
            KEY (u));
        INSERT INTO t(u, mail) SELECT concat('u', seq % 20), 'x' FROM seq_1_to_100;
        """
    let rule = TableRule(table: "t", column: "u", action: .delete)
    let mask = TableRule(
        table: "t",
        column: "u",
        action: .anonymize([ColumnMask(column: "mail", strategy: .null)]),
        reason: "tax"
    )

    /// The statements of a store about its table, without those that are prepared only.
    private final class Heard: Sendable {
        let statements = Mutex<[String]>([])

        func hear(_ sql: String) -> Bool {
            if sql.contains("`t`") { statements.withLock { $0.append(sql) } }
            return true
        }

        func count(_ part: String) -> Int {
            statements.withLock { $0.filter { $0.contains(part) }.count }
        }
    }

    @Test("a user costs one statement where nobody has locked a row", arguments: [false, true])
    func statements(isMask: Bool) async throws {
        let app = try MySQLFixture(Self.schema)
        let heard = Heard()
        // The longer a transaction takes, the fewer users come into it.
        let store = app.store(isMask ? mask : rule, clock: .still()) { heard.hear($0) }
        let users = (0..<20).map { erase("u\($0)") }
        let text = isMask ? "t anonymize: tax, cutoff: none 5" : "t delete, cutoff: none 5"
        #expect(await store.purge(users).map(\.text) == Array(repeating: text, count: 20))
        #expect(heard.count("SET STATEMENT") == 20)
        // A look at the table comes before each transaction.
        #expect(heard.count("`t`") == 20 + heard.count("SHOW CREATE TABLE"))
        #expect(heard.count("SHOW CREATE TABLE") < 5)
        #expect(await store.verify(users).allSatisfy { $0 == .clean })
    }

    @Test("what a foreign key or a trigger would wait for is waited for", .timeLimit(.minutes(5)))
    func waiting() async throws {
        let app = try MySQLFixture(
            Self.schema + """
                CREATE TABLE c(t int, FOREIGN KEY (t) REFERENCES t(id) ON DELETE CASCADE);
                INSERT INTO c SELECT id FROM t;
                """
        )
        let holder = Mutex(try app.session())
        try holder.withLock { session in
            try session.run("START TRANSACTION")
            _ = try session.query("SELECT 1 FROM c LIMIT 1 FOR UPDATE")
        }
        let heard = Heard()
        let store = app.store(rule) { sql in
            // The application lets go while the statement that may wait does so.
            if sql.contains("DELETE"), heard.count("SKIP LOCKED") == 1 {
                do { try holder.withLock { try $0.run("COMMIT") } } catch { return false }
            }
            return heard.hear(sql)
        }
        let users = (0..<20).map { erase("u\($0)") }
        let answers = await store.purge(users).map(\.text)
        #expect(answers.allSatisfy { $0.contains("t delete, cutoff: none 5") }, "\(answers)")
        #expect(try app.sql("SELECT count(*) FROM c") == ["0"])
    }
}

/// The order to erase a user.
private func erase(_ user: String) -> PurgeOrder { order(user) }
