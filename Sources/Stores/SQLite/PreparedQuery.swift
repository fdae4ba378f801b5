internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// One cached statement, bound and stepped without GRDB's per-call work.
///
/// Confined to the closure of one database access; `statement` keeps `handle` alive.
/// Parameters have fixed places in every statement of a target, see ``Place``.
@safe struct PreparedQuery {
    /// The places of parameters; a statement may leave any of them out.
    enum Place {
        static let user: Int32 = 1
        static let cutoff: Int32 = 2
        /// The horizon of plausible times.
        static let horizon: Int32 = 3
        static let cursor: Int32 = 4
        /// An id of another store; no statement has it beside a cursor.
        static let key: Int32 = 4
        /// Rows of a chunk.
        static let limit: Int32 = 5
        /// Masks' constants and labels, from here on.
        static let constants: Int32 = 6
    }

    private let statement: Statement
    private let handle: OpaquePointer
    private let parameterCount: Int32
    private let target: TargetName

    /// Takes the statement from the connection's cache, or prepares it.
    init(_ sql: String, constants: [BoundValue] = [], on db: Database, target: TargetName) throws {
        statement = try db.cachedStatement(sql: sql)
        unsafe handle = statement.sqliteStatement
        parameterCount = unsafe sqlite3_bind_parameter_count(handle)
        self.target = target
        for (offset, value) in constants.enumerated() {
            try bind(value, at: Place.constants + Int32(offset))
        }
    }

    /// Binds one value; a place the statement does not have is skipped.
    func bind(_ value: BoundValue, at place: Int32) throws(TargetError) {
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
        guard code == SQLITE_OK else { throw TargetError(resultCode: code, target: target) }
    }

    /// Binds the user and the cutoff of an order.
    func bind(_ user: BoundValue, cutoff: WallTime) throws(TargetError) {
        try bind(user, at: Place.user)
        try bind(.integer(cutoff.unixMilliseconds), at: Place.cutoff)
    }

    /// Steps to the end and tells how many rows changed directly.
    func run(on db: Database) throws(TargetError) -> Int {
        defer { _ = unsafe sqlite3_reset(handle) }
        while try step() {}
        return Int(unsafe sqlite3_changes(db.sqliteConnection))
    }

    /// Reads the first row as integers, `NULL` as 0; `nil` when there is no row.
    func integers() throws(TargetError) -> (Int64, Int64, Int64)? {
        defer { _ = unsafe sqlite3_reset(handle) }
        guard try step() else { return nil }
        return unsafe (
            sqlite3_column_int64(handle, 0), sqlite3_column_int64(handle, 1),
            sqlite3_column_int64(handle, 2)
        )
    }

    /// Reads the first column of all rows; `nil` for NULL.
    func values() throws(TargetError) -> [BoundValue?] {
        defer { _ = unsafe sqlite3_reset(handle) }
        var values: [BoundValue?] = []
        while try step() { values.append(value(0)) }
        return values
    }

    /// Goes through the rows for as long as `body` wants more of them.
    ///
    /// - Parameter body: Is given the first column, and may ask for ``key()``.
    /// - Returns: Whether the last row was seen.
    /// - Throws: ``TargetError``.
    func walk(_ body: (Int64) -> Bool) throws(TargetError) -> Bool {
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

    /// Overwrites the bound ids, which would otherwise stay in the statement cache.
    func forgetUser() {
        for place in [Place.user, Place.key] where place <= parameterCount {
            _ = unsafe sqlite3_bind_null(handle, place)
        }
    }

    /// Overwrites everything that is bound.
    func forgetAll() { _ = unsafe sqlite3_clear_bindings(handle) }

    private func step() throws(TargetError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code & 0xff {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let extended = unsafe sqlite3_extended_errcode(sqlite3_db_handle(handle))
            var error = TargetError(
                resultCode: extended & 0xff == code & 0xff ? extended : code,
                target: target
            )
            let text = unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
            error.obstacle = ObstacleFinder.constraint(named: text, error.resultCode)
            throw error
        }
    }
}
