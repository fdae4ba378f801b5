import GRDBSQLite
import Glibc
import Lifecycle
package import PostgreSQL

/// The values of the current row of a statement, by their place from 0; valid within one step only.
@safe package enum RowValues {
    case sqlite(OpaquePointer)
    case postgreSQL(PostgreSQLRow)

    func index(of name: StaticString) -> Int32? {
        switch self {
        case .sqlite(let statement):
            for index in 0..<(unsafe sqlite3_column_count(statement)) {
                let found = unsafe sqlite3_column_name(statement, index)
                if let found = unsafe found, unsafe strcmp(found, name.utf8Start) == 0 {
                    return index
                }
            }
            return nil
        case .postgreSQL(let row): return row.place(of: name)
        }
    }

    func isNull(at place: Int32) -> Bool {
        switch self {
        case .sqlite(let statement): unsafe sqlite3_column_type(statement, place) == SQLITE_NULL
        case .postgreSQL(let row): row.isNull(at: place)
        }
    }

    func int64(at place: Int32) -> Int64 {
        switch self {
        case .sqlite(let statement): unsafe sqlite3_column_int64(statement, place)
        case .postgreSQL(let row): row.int64(at: place)
        }
    }

    func text(at place: Int32) -> String {
        unsafe withText(at: place) { text in
            unsafe text.map { unsafe String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    /// `nil` when it is not UTF-8.
    func validText(at place: Int32) -> String? {
        unsafe withText(at: place) { text in
            unsafe text.flatMap { unsafe String(validating: $0, as: UTF8.self) }
        }
    }

    private func withText<T>(
        at place: Int32,
        _ body: (UnsafeBufferPointer<UInt8>?) -> T
    ) -> T {
        switch self {
        case .sqlite(let statement):
            guard let start = unsafe sqlite3_column_text(statement, place) else {
                return body(nil)
            }
            let count = Int(unsafe sqlite3_column_bytes(statement, place))
            return unsafe body(UnsafeBufferPointer(start: start, count: count))
        case .postgreSQL(let row):
            guard !row.isNull(at: place) else { return body(nil) }
            return unsafe row.withBytes(at: place) { bytes in
                unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0) }
            }
        }
    }

    /// What `typeof()` says of the stored value, before it is read; `nil` for NULL.
    func typeName(at place: Int32) -> String? {
        switch self {
        case .sqlite(let statement):
            switch unsafe sqlite3_column_type(statement, place) {
            case SQLITE_NULL: nil
            case SQLITE_INTEGER: "integer"
            case SQLITE_FLOAT: "real"
            case SQLITE_TEXT: "text"
            default: "blob"
            }
        // Only the spool has columns of any type.
        case .postgreSQL: nil
        }
    }

    func blob(at place: Int32) -> [UInt8] {
        unsafe withBytes(at: place) { unsafe [UInt8]($0) }
    }

    /// `nil` unless it has 16 bytes.
    func id(at place: Int32) -> TimeOrderedID? {
        unsafe withBytes(at: place) { bytes in
            guard bytes.count == 16 else { return nil }
            let high = unsafe bytes.loadUnaligned(as: UInt64.self)
            let low = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            return TimeOrderedID(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        }
    }

    private func withBytes<T>(at place: Int32, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        switch self {
        case .sqlite(let statement):
            let start = unsafe sqlite3_column_blob(statement, place)
            let count = Int(unsafe sqlite3_column_bytes(statement, place))
            return unsafe body(UnsafeRawBufferPointer(start: start, count: count))
        case .postgreSQL(let row):
            return unsafe row.withBytes(at: place) { unsafe body($0) }
        }
    }
}
