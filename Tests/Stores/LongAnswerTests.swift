import Lifecycle
import Testing

@testable import Stores

/// What client libraries hold is bounded in the service alone: Tests/EndToEnd/stores/floods.py.
@Suite("A server that sends more than is read", .serialized) struct LongAnswerTests {
    /// More than ``SQLLimits/answerBytes``, of few long rows and of many without a byte; and less.
    private static let cases = [
        (count: 100, value: "repeat('x', 1000000)", isRead: false),
        (count: 1_000_000, value: "NULL", isRead: false),
        (count: 20, value: "repeat('x', 1000000)", isRead: true),
    ]

    @Test("ends a PostgreSQL session, and no other", arguments: cases)
    func postgreSQL(count: Int, value: String, isRead: Bool) throws {
        let app = try PostgreSQLFixture("CREATE TABLE t(u text)")
        let session = try app.session()
        let sql = "SELECT \(value) FROM generate_series(1, \(count))"
        guard !isRead else {
            let rows = try session.query(sql).rows
            #expect(rows.count == count && rows.allSatisfy { $0[0]?.utf8.count == 1_000_000 })
            return
        }
        let error = #expect(throws: SQLError.self) { try session.query(sql) }
        #expect(error?.kind == .oversized)
        #expect(try app.session().query("SELECT 7").integer(0) == 7)
    }

    @Test("ends a MySQL session, and no other", arguments: cases)
    func mySQL(count: Int, value: String, isRead: Bool) throws {
        let app = try MySQLFixture("CREATE TABLE t(u varchar(9))")
        let session = try app.session()
        let sql = "SELECT \(value) FROM seq_1_to_\(count)"
        guard !isRead else {
            let answer = try session.query(sql)
            #expect(answer.rows.count == count && answer.text(0)?.utf8.count == 1_000_000)
            return
        }
        let error = #expect(throws: SQLError.self) { try session.query(sql) }
        #expect(error?.kind == .oversized)
        #expect(try app.session().query("SELECT 7").text(0) == "7")
    }

    @Test("an error in the middle of the rows leaves the session as it was")
    func errors() throws {
        let app = try MySQLFixture("CREATE TABLE t(i int); INSERT INTO t VALUES (1), (2)")
        let session = try app.session()
        let sql = "SELECT i, (SELECT s.i FROM t AS s WHERE s.i = t.i OR t.i = 2) FROM t"
        let error = #expect(throws: SQLError.self) { try session.query(sql) }
        #expect(error?.code == .mysql(1242))
        #expect(try session.query("SELECT 7").text(0) == "7")
        let other = try PostgreSQLFixture("CREATE TABLE t(u text)").session()
        let division = "SELECT 1 / (100 - i) FROM generate_series(1, 100) AS i"
        let failed = #expect(throws: SQLError.self) { try other.query(division) }
        #expect(failed?.code == .sqlState("22012"))
        #expect(try other.query("SELECT 7").integer(0) == 7)
    }
}
