import GRDB
import GRDBSQLite

/// Cached statements with positional parameters.
///
/// GRDB keeps the statement cache; binding and stepping go to SQLite directly, which costs a third
/// of `Statement.execute(arguments:)` and is most of the work of the writer. Transactions still go
/// through GRDB, which tracks them. One text is one statement: never step it again inside its own
/// loop.
extension Database {
    /// Runs a statement that returns no rows.
    ///
    /// - Returns: How many rows it changed.
    /// - Throws: `DatabaseError` with SQLite's code.
    @discardableResult
    func run(_ sql: String, _ values: SQLValue...) throws -> Int {
        try step(sql, values) { _ in true }
        return changesCount
    }

    /// Runs a query to its end.
    ///
    /// - Throws: `DatabaseError` with SQLite's code, or whatever `body` throws.
    func each(_ sql: String, _ values: SQLValue..., body: (SQLRow) throws -> Void) throws {
        try step(sql, values) { row in
            try body(row)
            return true
        }
    }

    /// The first row, if any.
    ///
    /// - Throws: `DatabaseError` with SQLite's code, or whatever `body` throws.
    func first<T>(_ sql: String, _ values: SQLValue..., body: (SQLRow) throws -> T) throws -> T? {
        var result: T?
        try step(sql, values) { row in
            result = try body(row)
            return false
        }
        return result
    }

    /// All rows.
    ///
    /// - Throws: `DatabaseError` with SQLite's code, or whatever `body` throws.
    func all<T>(_ sql: String, _ values: SQLValue..., body: (SQLRow) throws -> T) throws -> [T] {
        var result: [T] = []
        try step(sql, values) { row in
            result.append(try body(row))
            return true
        }
        return result
    }

    /// As ``all(_:_:body:)``, for a number of parameters that is known at run time only.
    ///
    /// - Throws: `DatabaseError` with SQLite's code, or whatever `body` throws.
    func all<T>(_ sql: String, values: [SQLValue], body: (SQLRow) throws -> T) throws -> [T] {
        var result: [T] = []
        try step(sql, values) { row in
            result.append(try body(row))
            return true
        }
        return result
    }

    /// Copies the values once, onto the stack, and lets SQLite read them there.
    private func step(_ sql: String, _ values: [SQLValue], body: (SQLRow) throws -> Bool) throws {
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
                    guard try body(unsafe SQLRow(statement)) else { return }
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
