import CPostgres
import Synchronization

/// Connections of libpq, on which what the application does is run: several statements in one
/// transaction, as psql's `-c` has it.
///
/// A program for each would take longer than most of what is run.
final class PostgreSQLClients: Sendable {
    private let conninfo: String
    /// Addresses of connections that nobody uses.
    private let idle = Mutex<[UInt]>([])

    init(_ conninfo: String) { self.conninfo = conninfo }

    deinit {
        for address in idle.withLock({ $0 }) { unsafe PQfinish(OpaquePointer(bitPattern: address)) }
    }

    /// Answers rows as text, columns parted by `|`.
    func run(_ sql: String) throws -> [String] {
        let connection = try unsafe take()
        var isUsable = false
        defer { if !isUsable { unsafe PQfinish(connection) } }
        let rows = try unsafe Self.rows(of: sql, on: connection)
        // As a new one would be.
        if unsafe PQtransactionStatus(connection) == PQTRANS_IDLE {
            _ = try unsafe Self.rows(of: "DISCARD ALL", on: connection)
            isUsable = true
            idle.withLock { $0.append(UInt(bitPattern: connection)) }
        }
        return rows
    }

    private func take() throws -> OpaquePointer? {
        if let address = idle.withLock({ $0.popLast() }) {
            return unsafe OpaquePointer(bitPattern: address)
        }
        let connection = unsafe PQconnectdb(conninfo)
        // Notices would go to standard error.
        _ = unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            defer { unsafe PQfinish(connection) }
            throw ServerFailure(text: unsafe String(cString: PQerrorMessage(connection)))
        }
        return unsafe connection
    }

    private static func rows(
        of sql: String,
        on connection: OpaquePointer?
    ) throws -> [String] {
        guard unsafe PQsendQuery(connection, sql) == 1 else {
            throw ServerFailure(text: unsafe String(cString: PQerrorMessage(connection)))
        }
        var rows: [String] = []
        var failure: ServerFailure?
        while let result = unsafe PQgetResult(connection) {
            defer { unsafe PQclear(result) }
            let status = unsafe PQresultStatus(result)
            if ![PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY].contains(status) {
                failure = ServerFailure(text: unsafe String(cString: PQresultErrorMessage(result)))
            }
            let (rowCount, columnCount) = unsafe (PQntuples(result), PQnfields(result))
            for row in 0..<rowCount {
                let cells = (0..<columnCount).map { column in
                    unsafe String(cString: PQgetvalue(result, row, column))
                }
                rows.append(cells.joined(separator: "|"))
            }
        }
        if let failure { throw failure }
        return rows.joined(separator: "\n").split(separator: "\n").map(String.init)
    }
}
