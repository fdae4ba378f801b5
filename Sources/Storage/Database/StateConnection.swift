import Lifecycle

/// One connection to the state, inside a transaction or a snapshot.
///
/// All statements of requests, credentials and the rest go through it. They are written in what
/// SQLite and PostgreSQL have in common; parameters are `?` in their order, or `?1` by number.
package protocol StateConnection: AnyObject {
    /// Runs a statement, and hands each row to `body` until that answers `false`.
    ///
    /// One text is one statement: never step it inside its own loop.
    ///
    /// - Throws: The error of the database, which ``StorageError`` classifies.
    func step(
        _ sql: String,
        _ values: [SQLValue],
        body: (RowValues) throws -> Bool
    ) throws

    /// Runs a statement whose answer the caller does not need.
    ///
    /// Its error may come with a later statement, at the latest with the end of the mutation.
    func send(_ sql: String, _ values: [SQLValue]) throws

    /// Rows that the last statement inserted, changed or deleted.
    var changesCount: Int { get }
    /// Rows that all statements of this connection have inserted, changed or deleted.
    var totalChangesCount: Int { get }
}

extension StateConnection {
    func send(_ sql: String) throws { try send(sql, []) }

    /// Runs a statement without rows and returns how many rows it changed.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try step(sql, values) { _ in true }
        return changesCount
    }

    func each(_ sql: String, _ values: [SQLValue] = [], body: (SQLRow) throws -> Void) throws {
        try step(sql, values) { values in
            try body(Row(values))
            return true
        }
    }

    func first<T>(
        _ sql: String,
        _ values: [SQLValue] = [],
        body: (SQLRow) throws -> T
    ) throws -> T? {
        var result: T?
        try step(sql, values) { values in
            result = try body(Row(values))
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
        try step(columns.selection + rest, values) { values in
            result.append(try body(Row(values)))
            return true
        }
        return result
    }

    func has(_ sql: String, _ values: [SQLValue] = []) throws -> Bool {
        try first(sql, values) { _ in true } ?? false
    }

    /// The only column of the first row; 0 without one.
    package func int(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
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
        try run(MetaColumn.replacement, MetaColumn.row([.key: .text(key), .value: .text(value)]))
    }
}

enum MetaColumn: Int32, Columns {
    case key, value

    static let replacement =
        insertion(of: allCases, into: "meta")
        + " ON CONFLICT (key) DO UPDATE SET value = excluded.value"

    /// Adds to the uses of a vault key.
    static let wrapCount = """
        INSERT INTO meta (\(names())) VALUES ('wrap_count.' || ?1, CAST(?2 AS TEXT))
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS INTEGER) + ?2 AS TEXT)
        """
}
