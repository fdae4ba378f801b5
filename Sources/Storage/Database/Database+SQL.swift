import GRDB
import GRDBSQLite
import Lifecycle

/// Cached statements with positional parameters.
///
/// GRDB keeps the statement cache. Binding and stepping go to SQLite directly, which costs a third
/// of `Statement.execute(arguments:)`. One text is one statement: never step it inside its own
/// loop.
extension Database {
    /// Runs a statement without rows and returns how many rows it changed.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try step(sql, values) { (_: SQLRow) in true }
        return changesCount
    }

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
        var result: T?
        try step(sql, values) { row in
            result = try body(row)
            return false
        }
        return result
    }

    func all<T>(
        _ sql: String,
        _ values: [SQLValue] = [],
        body: (SQLRow) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try each(sql, values) { result.append(try body($0)) }
        return result
    }

    /// The first row of a query for the columns of a table; `rest` begins with `FROM`.
    func first<C: Columns, T>(
        _ columns: C.Type,
        _ rest: String,
        _ values: [SQLValue] = [],
        body: (Row<C>) throws -> T
    ) throws -> T? {
        try all(columns, rest + " LIMIT 1", values, body: body).first
    }

    func all<C: Columns, T>(
        _ columns: C.Type,
        _ rest: String,
        _ values: [SQLValue] = [],
        body: (Row<C>) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try step(columns.selection + rest, values) { row in
            result.append(try body(row))
            return true
        }
        return result
    }

    func has(_ sql: String, _ values: [SQLValue] = []) throws -> Bool {
        try first(sql, values) { _ in true } ?? false
    }

    /// The only column of the first row; 0 without one.
    func int(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try first(sql, values) { $0.int() } ?? 0
    }

    func time(_ sql: String, _ values: [SQLValue] = []) throws -> WallTime? {
        try first(sql, values) { $0.timeOrNil() } ?? nil
    }

    func requestIDs(_ sql: String, _ values: [SQLValue] = []) throws -> [RequestID] {
        try all(sql, values) { try $0.requestID() }
    }

    /// A small fact of `meta`.
    func fact(_ key: String) throws -> String? {
        try first("SELECT value FROM meta WHERE key = ?", [.text(key)]) { $0.text() }
    }

    /// `nil` forgets the fact.
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
