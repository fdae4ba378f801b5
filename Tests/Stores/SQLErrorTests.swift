import GRDBSQLite
import Lifecycle
import PostgreSQL
import Testing

@testable import Stores

@Suite("Texts of errors of SQL databases")
struct SQLErrorTests {
    private static let name = StoreName("app")

    @Test("every cause is a sentence, not its code alone", arguments: SQLError.Kind.allCases)
    func reason(kind: SQLError.Kind) {
        let text = SQLError(kind, store: Self.name).description
        let start = "cannot purge store at 'app' (\(kind.rawValue)): "
        #expect(text.hasPrefix(start))
        #expect(text.dropFirst(start.count).split(separator: " ").count >= 3)
    }

    @Test(
        "what is too large blocks the order whose table is known",
        arguments: [
            (SQLITE_TOOBIG, SQLLimits.sizeText),
            (SQLITE_NOMEM, "more than a statement may hold in memory (96 MiB)"),
        ]
    )
    func size(code: Int32, cause: String) {
        let error = SQLError(resultCode: code, store: Self.name)
        #expect(!error.concernsOneOrder)
        let sized = error.sized(at: "p").sized(at: "q")
        let obstacle = Obstacle(.size, at: "p", cause: cause)
        #expect(sized.failure == .blocked(obstacle))
        #expect(sized.concernsOneOrder)
    }

    @Test("each kind of database has its own advice and codes")
    func advice() {
        let cases: [(SQLError, String)] = [
            (
                SQLError(.unreachable, mysql: 0, store: Self.name),
                "(unreachable): no server answers; check address or socket"
            ),
            (
                SQLError(.refused, mysql: 1049, store: Self.name),
                "(refused): the server has no such database, MySQL error 1049"
            ),
            (
                SQLError(PostgreSQLFailure.unreachable, store: Self.name),
                "(unreachable): no server answers; check host and port of conninfo_credential"
            ),
            (
                SQLError(PostgreSQLFailure.lost, store: Self.name),
                "(lost): PostgreSQL closed the connection; is the server running?"
            ),
            (
                SQLError(sqlState: "57P01", store: Self.name),
                "(lost): the server closed the connection; check that it is running, SQLSTATE 57P01"
            ),
            (
                SQLError(.lost, mysql: 2013, store: Self.name),
                "(lost): the server closed the connection; check that it is running, MySQL error"
                    + " 2013"
            ),
            (
                SQLError(sqlState: "28P01", store: Self.name),
                "(refused): check user, password and dbname of conninfo_credential, and"
                    + " pg_hba.conf, SQLSTATE 28P01"
            ),
            (
                SQLError(sqlState: "40P01", store: Self.name),
                "(locked): another transaction holds a lock, or the server is short of resources,"
                    + " SQLSTATE 40P01"
            ),
            (
                SQLError(sqlState: "55P03", store: Self.name),
                "(locked): another transaction holds a lock, SQLSTATE 55P03"
            ),
            (
                SQLError(.locked, mysql: 1205, store: Self.name),
                "(locked): another transaction holds a lock, MySQL error 1205"
            ),
            (
                SQLError(resultCode: SQLITE_FULL, store: Self.name),
                "(storage): the disk is full, SQLite result 13"
            ),
            (
                SQLError(resultCode: SQLITE_BUSY, store: Self.name),
                "(busy): another process holds the database, SQLite result 5"
            ),
            (
                SQLError(resultCode: SQLITE_NOMEM, store: Self.name),
                "(storage): a statement needs more than a statement may hold in memory (96 MiB), or"
                    + " the service has none left; shorten long values, or give the service more,"
                    + " SQLite result 7"
            ),
        ]
        for (error, text) in cases {
            #expect(error.description == "cannot purge store at 'app' \(text)")
        }
    }
}
