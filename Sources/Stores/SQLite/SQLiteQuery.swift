internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// One cached statement, bound and stepped without GRDB's per-call work.
///
/// Confined to the closure of one database access; `statement` keeps `handle` alive.
@safe struct SQLiteQuery {
    private let statement: Statement
    private let handle: OpaquePointer
    private let parameterCount: Int32
    private let store: StoreName

    /// Takes the statement from the connection's cache, or prepares it.
    init(_ sql: String, on db: Database, store: StoreName) throws(SQLError) {
        do {
            statement = try db.cachedStatement(sql: sql)
        } catch {
            throw SQLError(error, store: store)
        }
        unsafe handle = statement.sqliteStatement
        parameterCount = unsafe sqlite3_bind_parameter_count(handle)
        self.store = store
    }

    /// Binds parameters; `nil` leaves one as it is.
    func bind(_ parameters: SQLParameters) throws(SQLError) {
        if let user = parameters.user { try bind(user, at: 1) }
        if let time = parameters.time { try bind(.integer(time.unixMilliseconds), at: 2) }
        if let limit = parameters.limit { try bind(.integer(Int64(limit)), at: 3) }
        if let key = parameters.key { try bind(key, at: 4) }
        for (offset, part) in parameters.parts.enumerated() {
            try bind(part, at: Int32(5 + offset))
        }
    }

    /// Binds one value; a place the statement does not have is skipped.
    func bind(_ value: BoundValue, at place: Int32) throws(SQLError) {
        guard place <= parameterCount else { return }
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .integer(let number): unsafe sqlite3_bind_int64(handle, place, number)
            case .real(let number): unsafe sqlite3_bind_double(handle, place, number)
            case .text(let bytes):
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe sqlite3_bind_text(
                        handle,
                        place,
                        buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(buffer.count),
                        transient
                    )
                }
            case .blob(let bytes):
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe sqlite3_bind_blob(
                        handle,
                        place,
                        buffer.baseAddress,
                        Int32(buffer.count),
                        transient
                    )
                }
            }
        guard code == SQLITE_OK else { throw SQLError(resultCode: code, store: store) }
    }

    /// Steps to the end.
    ///
    /// - Returns: Rows changed directly, without cascades and triggers.
    func run(on db: Database) throws(SQLError) -> Int {
        defer { _ = unsafe sqlite3_reset(handle) }
        while try step() {}
        return Int(unsafe sqlite3_changes(db.sqliteConnection))
    }

    /// Reads the first column of the first row, `NULL` as 0; 0 when there is no row.
    func integer() throws(SQLError) -> Int64 {
        defer { _ = unsafe sqlite3_reset(handle) }
        return try step() ? unsafe sqlite3_column_int64(handle, 0) : 0
    }

    /// Reads the first row as integers, `NULL` as 0; `nil` when there is no row.
    func integers() throws(SQLError) -> (Int64, Int64, Int64)? {
        defer { _ = unsafe sqlite3_reset(handle) }
        guard try step() else { return nil }
        return unsafe (
            sqlite3_column_int64(handle, 0), sqlite3_column_int64(handle, 1),
            sqlite3_column_int64(handle, 2)
        )
    }

    func rows() throws(SQLError) -> [[BoundValue?]] {
        defer { _ = unsafe sqlite3_reset(handle) }
        var rows: [[BoundValue?]] = []
        var size = 0
        while try step() {
            let row = unsafe (0..<sqlite3_column_count(handle)).map(value)
            let bytes = row.reduce(0) { $0 + ($1?.byteCount ?? 0) }
            try SQLLimits.add(rowOf: row.count, bytes: bytes, to: &size, of: store)
            rows.append(row)
        }
        return rows
    }

    /// Goes through the rows for as long as `body` wants more of them.
    ///
    /// `body` gets the first column, and may call ``key()``. True when the last row was seen.
    func walk(_ body: (Int64) -> Bool) throws(SQLError) -> Bool {
        defer { _ = unsafe sqlite3_reset(handle) }
        while try step() {
            guard body(unsafe sqlite3_column_int64(handle, 0)) else { return false }
        }
        return true
    }

    /// The columns behind the first one, of the row that ``walk(_:)`` is at.
    func key() -> [BoundValue] {
        unsafe (1..<sqlite3_column_count(handle)).compactMap(value)
    }

    private func value(_ column: Int32) -> BoundValue? {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(handle, column))
        case SQLITE_TEXT: unsafe .text(bytes(sqlite3_column_text(handle, column), column))
        case SQLITE_BLOB: unsafe .blob(bytes(sqlite3_column_blob(handle, column), column))
        default: nil
        }
    }

    private func bytes(_ start: UnsafeRawPointer?, _ column: Int32) -> [UInt8] {
        guard let start = unsafe start else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Overwrites everything that is bound: user ids would stay in the statement cache.
    func forget() { _ = unsafe sqlite3_clear_bindings(handle) }

    private func step() throws(SQLError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code & 0xff {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let extended = unsafe sqlite3_extended_errcode(sqlite3_db_handle(handle))
            var error = SQLError(
                resultCode: extended & 0xff == code & 0xff ? extended : code,
                store: store
            )
            let text = unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
            error.obstacle = SQLiteObstacles.constraint(named: text, error.resultCode)
            throw error
        }
    }
}
