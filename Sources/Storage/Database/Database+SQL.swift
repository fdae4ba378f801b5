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
    /// Returns how many rows it changed.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try step(sql, values) { (_: SQLRow) in true }
        return changesCount
    }

    /// Runs a query to its end.
    func each(_ sql: String, _ values: [SQLValue] = [], body: (SQLRow) throws -> Void) throws {
        try step(sql, values) { row in
            try body(row)
            return true
        }
    }

    func first<T>(
        _ sql: String,
        _ values: [SQLValue] = [],
        body: (SQLRow) throws -> T
    ) throws -> T? {
        try oneRow(sql, values, body)
    }

    func all<T>(
        _ sql: String,
        _ values: [SQLValue] = [],
        body: (SQLRow) throws -> T
    ) throws -> [T] {
        try allRows(sql, values, body)
    }

    /// The first row of a query for the columns of a table; `rest` begins with `FROM`.
    func first<C: Columns, T>(
        _ columns: C.Type,
        _ rest: String,
        _ values: [SQLValue] = [],
        body: (Row<C>) throws -> T
    ) throws -> T? {
        try oneRow(columns.selection + rest, values, body)
    }

    /// All rows of a query for the columns of a table, as above.
    func all<C: Columns, T>(
        _ columns: C.Type,
        _ rest: String,
        _ values: [SQLValue] = [],
        body: (Row<C>) throws -> T
    ) throws -> [T] {
        try allRows(columns.selection + rest, values, body)
    }

    func has(_ sql: String, _ values: [SQLValue] = []) throws -> Bool {
        try first(sql, values) { _ in true } ?? false
    }

    /// A small fact; `nil` when there is none.
    func fact(_ key: String) throws -> String? {
        try first("SELECT value FROM meta WHERE key = ?", [.text(key)]) { $0.text() }
    }

    /// Records a small fact, or forgets it.
    func setFact(_ key: String, to value: String?) throws {
        guard let value else {
            try run("DELETE FROM meta WHERE key = ?", [.text(key)])
            return
        }
        try run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            [.text(key), .text(value)]
        )
    }

    private func oneRow<C, T>(
        _ sql: String,
        _ values: [SQLValue],
        _ body: (Row<C>) throws -> T
    ) throws -> T? {
        var result: T?
        try step(sql, values) { row in
            result = try body(row)
            return false
        }
        return result
    }

    private func allRows<C, T>(
        _ sql: String,
        _ values: [SQLValue],
        _ body: (Row<C>) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try step(sql, values) { row in
            result.append(try body(row))
            return true
        }
        return result
    }

    /// Copies the values once, onto the stack, and lets SQLite read them there.
    private func step<C>(
        _ sql: String,
        _ values: [SQLValue],
        body: (Row<C>) throws -> Bool
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
                    guard try body(unsafe Row(statement)) else { return }
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
