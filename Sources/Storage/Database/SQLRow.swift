import GRDBSQLite
import Lifecycle

/// The current row of a statement; columns are read by position.
///
/// Valid within one step only.
@safe struct SQLRow {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { unsafe self.statement = statement }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    func int(_ column: Int32) -> Int { Int(unsafe sqlite3_column_int64(statement, column)) }

    func bool(_ column: Int32) -> Bool { int(column) != 0 }

    func intOrNil(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }

    func time(_ column: Int32) -> WallTime {
        WallTime(unixMilliseconds: unsafe sqlite3_column_int64(statement, column))
    }

    func timeOrNil(_ column: Int32) -> WallTime? { isNull(column) ? nil : time(column) }

    func text(_ column: Int32) -> String {
        guard let start = unsafe sqlite3_column_text(statement, column) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: start, count: count),
            as: UTF8.self
        )
    }

    /// The text as it is; `nil` when it is not UTF-8.
    func validText(_ column: Int32) -> String? {
        guard let start = unsafe sqlite3_column_text(statement, column) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe String(
            validating: UnsafeBufferPointer(start: start, count: count),
            as: UTF8.self
        )
    }

    /// What `typeof()` says of the stored value, before it is read; `nil` for NULL.
    func typeName(_ column: Int32) -> String? {
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_NULL: nil
        case SQLITE_INTEGER: "integer"
        case SQLITE_FLOAT: "real"
        case SQLITE_TEXT: "text"
        default: "blob"
        }
    }

    func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    func blobOrNil(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// - Throws: ``StorageError`` of kind `malformed` when the column is no identifier.
    func id(_ column: Int32) throws -> TimeOrderedID {
        guard unsafe sqlite3_column_bytes(statement, column) == 16,
            let start = unsafe sqlite3_column_blob(statement, column)
        else { throw Self.malformed("identifier") }
        let high = unsafe start.loadUnaligned(as: UInt64.self)
        let low = unsafe start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        return TimeOrderedID(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }

    func requestID(_ column: Int32) throws -> RequestID { RequestID(try id(column)) }

    func identityID(_ column: Int32) throws -> IdentityID { IdentityID(try id(column)) }

    /// - Throws: ``StorageError`` of kind `malformed` for a value outside the closed set.
    func choice<T: RawRepresentable<String>>(_ column: Int32, as type: T.Type) throws -> T {
        guard let value = T(rawValue: text(column)) else { throw Self.malformed("\(type)") }
        return value
    }

    func choiceOrNil<T: RawRepresentable<String>>(_ column: Int32, as type: T.Type) throws -> T? {
        isNull(column) ? nil : try choice(column, as: type)
    }

    static func malformed(_ what: String) -> StorageError {
        StorageError(.malformed, "read a row", at: "state.db", cause: "unknown value for \(what)")
    }
}
