import GRDB
import GRDBSQLite

/// Cached statements with positional parameters.
///
/// GRDB keeps the statement cache. Binding and stepping go to SQLite directly, which costs a third
/// of `Statement.execute(arguments:)`.
extension Database: StateConnection {
    /// Copies the values once, onto the stack, and lets SQLite read them there.
    func step(
        _ sql: String,
        _ values: [SQLValue],
        body: (RowValues) throws -> Bool
    ) throws {
        let cached = try cachedStatement(sql: sql)
        let statement = unsafe cached.sqliteStatement
        let byteCount = values.reduce(0) { $0 + $1.byteCount }
        try unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes in
            defer {
                unsafe sqlite3_reset(statement)
                unsafe sqlite3_clear_bindings(statement)
                withExtendedLifetime(cached) {}
            }
            var room = unsafe bytes[...]
            for (index, value) in values.enumerated() {
                let code = unsafe value.bind(to: statement, at: Int32(index + 1), in: &room)
                guard code == SQLITE_OK else { throw failure(code, sql) }
            }
            while true {
                let code = unsafe sqlite3_step(statement)
                switch code {
                case SQLITE_ROW:
                    guard try body(unsafe .sqlite(statement)) else { return }
                case SQLITE_DONE:
                    return
                default:
                    throw failure(code, sql)
                }
            }
        }
    }

    private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
        let connection = unsafe sqliteConnection
        let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
        let extended = unsafe sqlite3_extended_errcode(connection)
        return DatabaseError(
            resultCode: ResultCode(rawValue: extended & 0xff == code & 0xff ? extended : code),
            message: message,
            sql: sql
        )
    }
}
